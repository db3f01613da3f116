// Command venuesim simulates the market venues for development and tests. It serves an invented world of markets for each venue
// in the wire format of that venue. Control routes create and change markets and make a venue fail.
package main
