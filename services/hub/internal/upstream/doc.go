// Package upstream publishes events of the hub to the feed of the ledger.
package upstream
