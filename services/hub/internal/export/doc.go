// Package export calculates the statistics of an operator from exported calls. Anyone with the export can repeat the calculation
// with cmd/signalcast.
package export
