// Package market parses the parameters of requests for markets, checks drafts of native markets, labels the sentiment of calls,
// and defines pins. The ledger stores markets; the hub stores pins.
package market
