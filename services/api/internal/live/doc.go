// Package live hands the feed to those who listen in this process.
//
// A Hub gets every event once and in order and gives each to the bounded queues
// of its subscribers. A reader that falls behind loses its own connection and
// delays nobody else. The package opens no socket and asks no database: what a
// reader missed before the Hub's memory begins is brought by its caller.
package live
