// Package record holds what an operator has on record as the front door shows it:
// counters, rank, moments, newest calls, and how much of it is skill. The ledger keeps
// and measures it.
package record
