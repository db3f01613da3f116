// Package broker delivers the feed to the readers of this process.
//
// A Broker receives every event once and in order. It has one shard per core, and each reader belongs to one shard. A shard
// collects events for a short time, encodes them once, and writes them to every subscribed connection without blocking. A
// reader whose connection accepts no more bytes lags: a goroutine sends it the missed events from the memory of the broker,
// so that it does not delay other readers. A reader that needs an event no longer in memory is closed as a slow consumer.
//
// The package opens no sockets and reads no database. The caller must send the events that are older than the memory.
package broker
