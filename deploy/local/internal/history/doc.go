// Package history generates the past of a demo: markets with prices and outcomes, and
// operators of known skill who call them at the price that the market asks.
//
// The output is the input of `api seed`. It is a function of the settings alone; there is no
// I/O and no clock. Start at Generate.
package history
