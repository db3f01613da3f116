// Package openapi contains the OpenAPI description of the protocol and Go types of its responses.
//
// The source is docs/protocol/openapi.yaml. tools/gen.sh writes openapi.json and models.gen.go. The hub serves openapi.json
// at /openapi.json and /docs/openapi.json, and tests compare it with every route table. models.gen.go contains one Go type
// per schema. In these types, times are texts in the format of pkg/protocol.Stamp, and values of enumerations are strings.
// The package does not decode requests.
package openapi
