// Package client talks to a running system as its users do: it signs in, mints
// keys, files calls, resolves markets, and reads. It also plants what load needs
// and nobody could make in time by hand: a pool of operators with keys.
//
// The limits of the system stay on. A Client therefore dials from many addresses
// 127.x.y.z, each of which is one caller to the system.
package client
