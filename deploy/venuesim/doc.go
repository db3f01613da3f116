// Command venuesim simulates the market venues for development and tests: one invented world of markets for each venue, in the
// venue's own wire format, with control routes that create and change markets and make a venue fail.
package main
