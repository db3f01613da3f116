// Package operator signs in operators with verified identities, and manages their handles, tiers and keys.
//
// A key is 256 random bits, of which only the SHA-256 is stored. A handle is derived from the verified identity, never from
// other request data.
package operator
