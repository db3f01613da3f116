// Package stationapi serves the federation of stations: markets with the calls of this hub, and the tapes (clips) and operators
// of all stations. It also serves the identities and payout addresses of operators of this hub.
//
// Package federation reads partner stations. Start with network.go.
package stationapi
