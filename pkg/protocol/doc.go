// Package protocol holds the small words of the protocol: market ids, handles,
// sides, prices in basis points, lanes, windows, statuses, masked ids, time
// stamps, cursors and list limits.
//
// Every word has one parser, and a value that came out of it is well formed.
// Parsers of required input return a fault; parsers of list parameters never
// fail, because list parameters never do. The package does no I/O, reads no
// clock and knows no transport.
package protocol
