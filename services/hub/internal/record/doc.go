// Package record builds the request for the record of an operator, which the ledger stores. It derives the counts, the title and
// the statistics that the hub shows.
package record
