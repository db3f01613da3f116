// Package broadcast provides the data that is shown with the broadcast programme: the spotlight, the feed, bumpers, price moves
// of aired markets, and the schedule.
//
// It reads data from the clock, the ledger and the live sessions. It contains no HTTP, no JSON and no SQL. A price move of an
// aired market does not mean that the broadcast caused it.
package broadcast
