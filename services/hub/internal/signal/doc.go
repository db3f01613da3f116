// Package signal files calls and appends events in the ledger, which stores both. It assigns their ids, retries a write
// whose answer was lost, and calculates the points that a call can win or lose.
package signal
