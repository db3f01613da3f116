// Package security checks that the tests that docs/security.md names exist.
package security
