// Package feed defines the events of the feed, their channels, and the link from each event to the previous one on the same
// channel.
//
// Event numbers have no gaps and follow the order of commits. The package assigns no numbers and has no dependency on a
// database, Redis or sockets.
package feed
