// Command check loads compose.yaml with the library of Docker Compose and reports services that are not hardened: with a writable
// file system, a capability, root, no limit or no health check. It also reports secrets with a default value and ports that are
// published on every address. It exits with 1 if it reports something and with 2 if the file cannot be read.
//
//	GOWORK=off go -C deploy/check run . -file ../../compose.yaml
//	GOWORK=off go -C deploy/check run . -file ../../compose.yaml -print
//
// The second command prints the file as Compose reads it, for tests that run its services without Compose.
//
// It is a separate module, so that no other module depends on the Compose library. It starts no container.
package main
