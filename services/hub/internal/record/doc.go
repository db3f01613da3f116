// Package record has what the hub derives from the record of an operator: counts of its statistics
// and its title. The ledger owns the record.
package record
