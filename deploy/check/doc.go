// Command check reads compose.yaml as Docker Compose would and refuses a stack
// that is not hardened: a part that may write its file system, keeps a
// capability, runs as root, has no limit or no health check; a secret with a
// default value; a port that is open to the world.
//
//	GOWORK=off go -C deploy/check run . -file ../../compose.yaml
//	GOWORK=off go -C deploy/check run . -file ../../compose.yaml -print
//
// The second line prints the file as Compose reads it, for those who run its parts in
// another way.
//
// It is a module of its own, so that the Compose library stays out of
// everything else. It starts nothing.
package main
