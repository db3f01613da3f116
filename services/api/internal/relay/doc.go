// Package relay distributes the events of the feed from the database to every process.
//
// Of all replicas, only the process that holds the lease runs a Relay. It assigns numbers to committed outbox entries and
// publishes the numbered events on a Redis stream. In each process, a Follower reads that stream and delivers the events to
// the broker. If Redis is unavailable or has lost events, the Follower reads the database instead. PubSub distributes events
// without a number.
package relay
