// Package score is the definition of what a call is worth (contract 4.2,
// scoring version 1.0). It is pure arithmetic: the SQL of package postgres that
// scores a market is tested against it for every price and verdict.
package score
