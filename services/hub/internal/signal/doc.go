// Package signal files calls and appends events in the ledger, which owns both: it assigns their ids and
// sends a write once more when its answer was lost. It also derives the points that a call can bring.
package signal
