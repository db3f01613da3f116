// Package polymarket encodes a world in the wire formats of Polymarket: the metadata service (/gamma), the order-book service
// (/clob) and the market channel (/ws/market).
//
// It serves the routes that the api service requests. Unknown parameters are ignored, as by the venue. Start reading at
// Service.Handler.
package polymarket
