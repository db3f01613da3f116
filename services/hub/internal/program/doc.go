// Package program parses queries for the broadcast programme and requests of directors, and builds the requests to the
// clock, which owns both.
package program
