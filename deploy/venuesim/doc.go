// Command venuesim plays the market venues for development and tests: the same
// routes, wire forms and errors, over invented or recorded markets, plus
// control routes that create and settle markets and make a venue fail.
package main
