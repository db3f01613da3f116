// Package signal holds the locked call, its events and the reads around it,
// as the front door sees them. The ledger owns them: this package knows what
// a caller may say, asks the ledger, and asks once more when an answer was
// lost. It knows no transport.
package signal
