// Package signer stores an Ed25519 key in a file with mode 0600, and signs messages and registrations of the protocol with it.
// The package sends no requests.
//
// It signs for the issuer in the file of the key, never for an issuer that a server states. Otherwise a server could obtain
// signatures that are valid at another server.
package signer
