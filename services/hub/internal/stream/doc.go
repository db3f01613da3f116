// Package stream holds what operators have on the air for a market: the streams
// that they bind to it and the clips that were cut from them. The addresses in it
// are handed on to viewers; nothing here or behind it ever opens one.
package stream
