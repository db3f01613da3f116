// Package limitless encodes the markets of a world in the wire format of Limitless: the list of active markets, single markets
// and groups, and order books.
//
// It serves only the routes that the api service requests. Start reading at Service.Handler.
package limitless
