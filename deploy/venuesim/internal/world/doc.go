// Package world contains the markets of a simulated venue and their events. Markets are invented or recorded, and have a price
// path and an order book. Tests can change them.
//
// The package contains no HTTP and no JSON of a venue: one package for each venue encodes the markets. Start reading at Market
// and World.
package world
