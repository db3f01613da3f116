// Package board holds the broadcast-score board as the front door shows it.
// The ledger ranks; this package knows the question and the row.
package board
