// Package client holds the generated Go types and HTTP client of the protocol.
//
// tools/gen.sh generates client.gen.go from docs/protocol/openapi.yaml. Do not edit it. The generated client does not send
// credentials, retry requests or decode errors; package signalcast does. No service imports this package.
package client
