// Package limitless encodes a world in the wire format of Limitless: the list of active markets, single markets and groups,
// and order books.
//
// It serves what the readers of this project request. Start reading at Service.Handler.
package limitless
