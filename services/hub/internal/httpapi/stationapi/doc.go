// Package stationapi serves the federation of stations: markets with the calls of this hub, tapes and operators of all stations,
// and the identities and payout addresses of operators of this hub.
//
// Package federation reads partner stations. Start with network.go.
package stationapi
