// Package program holds the broadcast programme as the front door shows it:
// what may be asked of the clock, and what it answered.
package program
