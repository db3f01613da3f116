// Package wsclient has a lean client of the live feed: one process opens ten thousand
// connections with it and hardly shows beside the server that it looks at.
//
// A connection that is heard holds one goroutine and no buffer while nothing comes. It
// says what a library would never say, too: frames in pieces, of any length and kind, a
// connection that is reset, and one that is never read.
package wsclient
