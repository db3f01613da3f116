// Command check loads compose.yaml with the library of Docker Compose and reports services that are not hardened: with a writable
// file system, a capability, root, no limit or no health check. It also reports ports that are published on every address.
// Without an overlay, it reports required variables and secrets that production would accept. With the overlay for production, it
// reports secrets that are not required and values that are only for local use. It exits with 1 if it reports something and with
// 2 if a file cannot be read.
//
//	GOWORK=off go -C deploy/check run . -file ../../compose.yaml
//	GOWORK=off go -C deploy/check run . -file ../../compose.yaml -file ../../compose.production.yaml
//	GOWORK=off go -C deploy/check run . -file ../../compose.yaml -print
//
// The last command prints the file as Compose reads it, for tests that run its services without Compose.
//
// It is a separate module, so that no other module depends on the Compose library. It starts no container.
package main
