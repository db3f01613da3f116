// Package world contains the markets of a simulated venue: invented or recorded markets with a price path and an order book,
// their events, and the changes that tests make.
//
// The package contains no HTTP and no JSON of a venue. The packages of the venues encode its markets. Start reading at Market and
// World.
package world
