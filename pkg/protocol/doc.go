// Package protocol contains the value types of the Signalcast protocol: market ids, handles, sides, prices in basis points,
// lanes, windows, statuses, masked ids, timestamps, cursors and list limits.
//
// Parsers return only valid values. Parsers of required members return a fault or false for invalid input. Parsers of query
// parameters of lists return a default instead, because list requests must not fail for such input. The package performs no I/O
// and does not read the clock.
package protocol
