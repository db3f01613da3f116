// Package polymarket encodes the markets of a world in the wire formats of Polymarket: the metadata service (/gamma), the
// order-book service (/clob) and the market channel (/ws/market).
//
// It serves only the routes that the api service requests. Like the venue, it ignores unknown parameters. Start reading at
// Service.Handler.
package polymarket
