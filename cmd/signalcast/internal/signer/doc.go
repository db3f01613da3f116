// Package signer keeps an Ed25519 key in a file of mode 0600 and signs messages and
// registrations of the protocol with it. It sends nothing.
//
// The issuer under which it signs is the one that the key was registered for, and never
// what a server says of itself: else a server could have messages signed for another one.
package signer
