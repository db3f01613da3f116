// Package broker delivers the events of the feed to the readers of this process.
//
// A Broker receives every event once and in order. It has one shard per processor core, and each reader belongs to one shard. A
// shard collects events for a short time, encodes them once, and writes them to every subscribed connection without blocking. A
// reader whose connection accepts no more bytes lags: a separate goroutine sends it the missed events from the memory of the
// broker, so that it does not delay other readers. A reader that needs an event no longer in memory is closed as a slow
// consumer.
//
// The package opens no connections and reads no database. Its caller must read events that are no longer in memory.
package broker
