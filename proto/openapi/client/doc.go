// Package client holds the generated Go types and HTTP client of the protocol.
//
// client.gen.go is written by tools/gen.sh from docs/protocol/openapi.yaml and
// is never edited. Tests and other Go programs use it to call a hub, an api or
// a clock host; no service imports it.
package client
