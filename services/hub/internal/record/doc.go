// Package record requests the record of an operator and derives the counts, the title and the statistics that the hub
// shows. The ledger stores the record.
package record
