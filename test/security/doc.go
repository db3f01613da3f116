// Package security holds docs/security.md against the tests that it names.
package security
