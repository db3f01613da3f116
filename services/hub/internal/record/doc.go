// Package record requests the record of an operator from the ledger, which stores it. It derives the counts, the title and the
// statistics that the hub shows.
package record
