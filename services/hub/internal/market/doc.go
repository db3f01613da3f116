// Package market reads the parameters of market reads, checks the draft of a native market, labels sentiment and
// defines pins. The ledger stores markets; the hub stores pins.
package market
