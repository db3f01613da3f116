// Package record requests the record of an operator and derives from it what the hub shows: counts, the title and
// the statistics of skill. The ledger owns the record.
package record
