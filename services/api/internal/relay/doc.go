// Package relay carries the feed from the database to every process.
//
// One Relay of all replicas, the one that holds the lease, gives committed facts
// their numbers and puts the numbered events on a Redis stream. In each process
// a Follower reads that stream and hands the events to the live hub; when Redis
// is away, or has lost something, it reads the database instead. Redis holds
// nothing that cannot be put there again. News carries what has no number.
package relay
