// Package stream defines the streams that operators bind to a market, and the clips of these streams. Stream URLs are
// passed on to viewers; the hub never requests them.
package stream
