// Package manifold encodes a world in the wire format of Manifold: the search and single markets.
//
// It serves the routes that the api service requests. A creator on this venue resolves a market at once and can withdraw the
// result; other venues have a proposal first. Start reading at Service.Handler.
package manifold
