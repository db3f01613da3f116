// Package signal files calls and appends events to calls. The ledger stores both. The package assigns their ids, retries a write
// whose answer was lost, and calculates the points that a call can win or lose.
package signal
