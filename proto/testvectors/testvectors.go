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
