// Package reads serves public reads of facts of the ledger: calls, markets, operators and their records, boards and movements,
// also as tools of agents.
//
// It changes nothing. Start with signals.go for one read and with boards.go for a cached one.
package reads
