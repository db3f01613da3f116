// Package market reads what callers ask of markets, checks the draft of a native market, labels
// sentiment and defines pins. The ledger stores markets; the hub stores pins.
package market
