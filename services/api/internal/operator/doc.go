// Package operator signs in operators with verified identities, and manages their handles, tiers and keys.
//
// An operator key contains 256 random bits. Its plaintext is not stored, only its SHA-256, its prefix and its last four
// characters. A handle is derived from the verified identity, never from other data of a request.
package operator
