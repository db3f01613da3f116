// Package export calculates the numbers of an operator's record from its calls. Anyone who has the
// calls can calculate them; cmd/signalcast does.
package export
