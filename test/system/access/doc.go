// Package access contains tests of a complete system. They check which callers may use which routes, and that no output
// contains a secret.
//
// Start reading in matrix_test.go, which sends each kind of credential of credentials_test.go to each route.
package access
