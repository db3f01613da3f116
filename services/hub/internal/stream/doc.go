// Package stream defines the streams that operators bind to markets, and the clips of these streams. The hub passes stream URLs
// on to viewers and never requests them.
package stream
