// Package openapi holds the description of the protocol and the Go types of its answers.
//
// The source is docs/protocol/openapi.yaml. tools/gen.sh writes openapi.json, which the hub serves unchanged at
// /openapi.json and /docs/openapi.json and tests compare with every route table, and models.gen.go with one Go type per
// schema. In the types, times are texts as pkg/protocol.Stamp writes them, and values of a fixed set are plain strings: tests
// compare every answer with the document. The package decodes no requests.
package openapi
