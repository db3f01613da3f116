// Package history generates the history of a demo: markets with prices and outcomes, and calls of operators with a known skill at
// the ask price of the market.
//
// The output is the input of `api seed`. It depends on the settings only: the package does no I/O and reads no clock. Start
// reading at Generate.
package history
