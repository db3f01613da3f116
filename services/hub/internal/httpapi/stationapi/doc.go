// Package stationapi serves the network of stations: markets with the opinion of this hub, tapes and operators of all stations,
// and the identities and payout addresses of our operators.
//
// Reads of partner stations are in hub/federation. Start with reels.go.
package stationapi
