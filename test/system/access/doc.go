// Package access tests on the whole system who may do what, and that secrets stay secret.
//
// Start reading in matrix_test.go: it sends each kind of credential of credentials_test.go to each route.
package access
