// Package export is the record of an operator as it leaves the house: its calls in
// the order in which they were filed, and the numbers that follow from them. Who has
// the calls can work out the numbers; cmd/signalcast does.
package export
