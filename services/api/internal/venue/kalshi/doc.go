// Package kalshi reads Kalshi through its trade API: markets with their events and series, and markets in its archive.
// The rules for status and outcome are in derive.go, in their order of precedence.
package kalshi
