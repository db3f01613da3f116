// Package client holds the generated Go types and HTTP client of the protocol.
//
// client.gen.go is written by tools/gen.sh from docs/protocol/openapi.yaml and is never
// edited. It knows nothing of credentials, of trying again or of errors: package
// signalcast does. No service imports it.
package client
