// Package security compares docs/security.md with the tests that the page names.
package security
