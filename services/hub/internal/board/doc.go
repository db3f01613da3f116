// Package board reads the parameters of the leaderboard and makes the request for the ledger, which ranks the operators.
package board
