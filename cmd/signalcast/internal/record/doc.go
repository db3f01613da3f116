// Package record reads the record of an operator line by line and works out every
// number in it again, from the lines alone. It shares nothing with the services but
// the arithmetic of docs/method.md: scores, moments and totals are written a second
// time here, from the protocol, so that a mistake there is not repeated.
package record
