// Command venuesim simulates the market venues for development and tests. For each venue it serves invented or recorded markets
// in the wire format of that venue. Its control routes create and change markets, and make a venue fail. With the argument
// health, it exits with 0 if the simulator at HTTP_ADDR answers, otherwise with 1.
package main
