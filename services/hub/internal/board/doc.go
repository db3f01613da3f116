// Package board parses the query parameters of the leaderboard and builds the request to the ledger, which ranks the operators.
package board
