// Package testvectors contains test vectors of the protocol for implementations in any language: signed messages with their
// canonical form and the reason for a rejection, and payloads with the schemas that validate them. The tests of the hub write
// messages.json and payloads.json (go test -update).
package testvectors

import _ "embed"

// Messages is the content of messages.json: signed messages with their canonical form and, for invalid ones, the reason
// for the rejection.
//
//go:embed messages.json
var Messages []byte

// Payloads is the content of payloads.json: payloads of messages with the schemas that validate them.
//
//go:embed payloads.json
var Payloads []byte

// Ed25519 is the content of ed25519.json: signatures from external test suites. No test of this project writes the
// file.
//
//go:embed ed25519.json
var Ed25519 []byte
