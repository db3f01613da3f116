// Package manifold encodes the markets of a world in the wire format of Manifold: the search and single markets.
//
// It serves only the routes that the api service requests. On this venue, the creator of a market resolves it at once and can
// withdraw the result. On other venues, an outcome is proposed first. Start reading at Service.Handler.
package manifold
