// Package kalshi encodes a world in the wire format of Kalshi's trade API: events, markets and series.
//
// It serves the routes that the api service requests. Markets are never moved to the archive. Start reading at Service.Handler.
package kalshi
