// Package world is the one invented world of the simulated venues: markets with a price path and an order book, their events,
// and the changes that a test makes to them.
//
// It contains no HTTP and no member name of a venue: the packages of the venues encode its markets. Start reading at Market
// and World.
package world
