// Package signer stores an Ed25519 key in a file of mode 0600. It signs messages and registrations of the protocol with the
// key, and sends nothing.
//
// It signs for the issuer in the file of the key, never for an issuer that a server states. Otherwise a server could obtain
// signatures that are valid at another server.
package signer
