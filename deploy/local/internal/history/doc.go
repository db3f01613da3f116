// Package history generates the history of a demo: markets with prices and outcomes, and calls of operators whose skill is
// known. Each call states the ask price of its market.
//
// The output is the input of the command `api seed`. It depends only on the settings: the package does no I/O and reads no
// clock. Start reading at Generate.
package history
