// Package kalshi reads markets of Kalshi through its trade API: current markets with their events and series, and archived
// markets. The rules for status and outcome are in derive.go, in their order of precedence.
package kalshi
