// Package reads serves public reads of the ledger: calls, markets, operators with their records, leaderboards and market
// movements. Some of the reads are also MCP tools.
//
// No handler changes data. Start with signals.go for a simple read and with boards.go for a cached one.
package reads
