// Package feed is the numbered record of what happened: its events, the
// channels that they travel on, and the link from each event to the one before
// it on the same channel.
//
// Numbers have no gaps and follow the order of commits. The package gives no
// numbers and moves no bytes; it knows no database, no Redis and no socket.
package feed
