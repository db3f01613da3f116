// Command openapi turns docs/protocol/openapi.yaml into the JSON document that
// the hub serves.
//
// It keeps the order of the members, so that a change in the source is the
// same small change in the output, and it refuses a document that breaks the
// rules of this house (see check.go) or that a validator cannot load. It knows
// nothing about any route.
package main
