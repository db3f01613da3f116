// Package upstream publishes events that the hub has committed to the event feed of the ledger.
package upstream
