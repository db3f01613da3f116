// Package polymarket encodes a world in the wire formats of Polymarket: the metadata service (/gamma), the order-book service
// (/clob) and the market channel (/ws/market).
//
// It serves what the readers of this project request. Parameters that it does not know are ignored, as the venue does. Start
// reading at Service.Handler.
package polymarket
