// Package kalshi reads Kalshi through its trade API: markets with their events
// and series, markets that have moved to its archive, and price history. The
// derivation of status and outcome is one ordered list of rules in derive.go.
package kalshi
