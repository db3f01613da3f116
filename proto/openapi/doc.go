// Package openapi holds the machine-readable description of the protocol.
//
// The truth is docs/protocol/openapi.yaml; tools/gen.sh writes openapi.json
// from it. The hub serves these bytes unchanged at /openapi.json and
// /docs/openapi.json, and tests compare every route table with them. The package knows nothing about HTTP and decodes nothing.
package openapi
