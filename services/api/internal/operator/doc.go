// Package operator signs in operators with verified identities, and manages their handles, tiers and keys.
//
// An operator key contains 256 random bits, and only its SHA-256 is stored. A handle is derived from the verified identity,
// never from other data of a request.
package operator
