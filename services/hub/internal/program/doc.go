// Package program reads queries for the broadcast programme and the entries of directors, and makes the requests
// for the clock, which owns both.
package program
