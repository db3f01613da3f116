// Package board selects the broadcast-score board: it reads the question of a caller and makes
// the request for the ledger, which ranks.
package board
