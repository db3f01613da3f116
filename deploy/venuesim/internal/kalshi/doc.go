// Package kalshi encodes the markets of a world in the wire format of Kalshi's trade API: events, markets and series.
//
// It serves only the routes that the api service requests. Start reading at Service.Handler.
package kalshi
