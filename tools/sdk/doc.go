// Command sdk writes the tables that the client libraries share: the error codes of
// docs/protocol/errors.md, and what each operation of the document takes. Both come out
// in Go and in TypeScript, so that no library has a list of its own.
package main
