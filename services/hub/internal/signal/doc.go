// Package signal files calls and appends events to calls. The ledger stores calls and events. The package assigns the ids,
// retries a write whose response was lost, and calculates the points that a call can win or lose.
package signal
