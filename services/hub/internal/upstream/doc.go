// Package upstream sends events to the event feed of the ledger after the hub has committed them.
package upstream
