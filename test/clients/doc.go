// Package clients runs clients of other projects against a running system: public libraries of OAuth, of signatures and of
// agents, conformance suites, and the library of the identity provider whose form of tokens the hub accepts. package.json pins
// their versions.
//
//	go test ./test/clients -run TestClients/oauth4webapi
//
// The first run requires npm, which fetches them; on Linux Node comes with them. Each client is one .mjs file of this
// directory. It prints a line that begins with "ok" for each check and fails on the first failed one.
package clients
