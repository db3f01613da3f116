// Package board ranks operators from counters (contract 4.2.4, 4.8.3, 4.8.4).
// Independent, house and automated operators are told apart on every row.
package board
