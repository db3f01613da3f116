// Command openapi is the first step of tools/gen.sh. It reads the contract of the HTTP interface, docs/protocol/openapi.yaml,
// and the list of error codes, docs/protocol/errors.md, and writes:
//
//   - -out: the contract as JSON, with its members in the order of the YAML file. The hub serves it as /openapi.json.
//   - -client and -models: two reduced copies, from which other generators write the Go client, the TypeScript types and the
//     Go types of responses.
//   - -go and -ts: tables of error codes and of routes for the client libraries in sdk/go and sdk/ts. A row of the route table
//     has, for example, whether the route takes a key and whether a request may be sent twice.
//
// It fails if a validator cannot load the contract or if the contract breaks a rule of check.go. Start reading at run.
package main
