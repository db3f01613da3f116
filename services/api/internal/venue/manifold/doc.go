// Package manifold reads Manifold: its binary play-money markets, and price
// history made of bets. The derivation of status and outcome is one ordered
// list of rules in derive.go.
package manifold
