// Package operator is who files: sign-in of a verified identity, handles, tiers
// and operator keys.
//
// A key is 256 random bits; only its SHA-256 is kept. A handle comes from the
// verified identity and never from a request.
package operator
