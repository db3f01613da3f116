// Package kalshi reads Kalshi through its trade API: markets with their events
// and series, and markets that have moved to its archive. The derivation of
// status and outcome is one ordered list of rules in derive.go.
package kalshi
