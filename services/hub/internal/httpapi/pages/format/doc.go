// Package format formats numbers, prices, times and names for the HTML pages of the hub.
//
// Its functions read nothing and keep no state. Start with number.go.
package format
