// Package client contains the generated Go types and HTTP client of the protocol.
//
// tools/gen.sh generates client.gen.go from docs/protocol/openapi.yaml; do not edit that file. The generated client does not
// send credentials, retry requests or decode errors; package signalcast does.
package client
