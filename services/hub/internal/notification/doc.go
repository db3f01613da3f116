// Package notification notifies users of results of their calls, changes of their markets, and what followed forecasters do.
//
// Worker reads the events of the ledger by their numbers and stores entries. The number of the last event and the entries are
// stored in one transaction, so that a crash neither loses nor repeats an entry. The package contains no HTTP and no SQL. Start
// with notification.go.
package notification
