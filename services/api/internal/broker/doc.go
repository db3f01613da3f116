// Package broker hands the feed to those who listen in this process.
//
// A Broker gets every event once and in order. Shards, one for each core, own the
// readers between them: a shard joins what came in a short while and writes it,
// once encoded, to every connection that listens, without waiting for any. A
// reader whose connection is full lags: it goes on from the hub's memory at its
// own pace and delays nobody, and one that falls behind that memory is cut off.
// The package opens no socket and asks no database: what a reader missed before
// the hub's memory begins is brought by its caller.
package broker
