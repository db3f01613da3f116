// Package board ranks operators from counters (contract 4.2.4, 4.8.3, 4.8.4).
// Independent, house and automated operators are told apart on every row.
//
// A window of 28 days begins 28 days before the read, to the millisecond. The
// package knows nothing of how rows are kept in order; a board reads the same
// before and after Run has brought them up to date.
package board
