// Package feed defines the events of the feed, their channels, and the link from each event to the previous one on the same
// channel.
//
// Event numbers are consecutive and have the order of commits. Package postgres assigns them. Package feed does not depend on a
// database, Redis or connections.
package feed
