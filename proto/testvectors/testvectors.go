// Package testvectors holds the golden vectors of the protocol for readers in any
// language: signed messages with what they canonicalise to and why they are
// refused, and payloads with the schemas that judge them. The hub's tests write
// the files (go test -update); nothing in production imports this package.
package testvectors

import _ "embed"

// Messages is messages.json.
//
//go:embed messages.json
var Messages []byte

// Payloads is payloads.json.
//
//go:embed payloads.json
var Payloads []byte

// Ed25519 is ed25519.json: signatures of others' test suites, which no test of ours
// writes.
//
//go:embed ed25519.json
var Ed25519 []byte
