// Package kalshi encodes a world in the wire format of Kalshi's trade API: events, markets and series.
//
// It serves what the readers of this project request. Nothing is ever moved to the archive. Start reading at Service.Handler.
package kalshi
