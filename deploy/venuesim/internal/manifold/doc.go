// Package manifold encodes a world in the wire format of Manifold: the search and single markets.
//
// It serves what the readers of this project request. The creators of this venue name a result at once and may take it back,
// where others propose one. Start reading at Service.Handler.
package manifold
