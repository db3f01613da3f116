// Package clients runs clients of other projects against a running system: public libraries for OAuth, signatures and agents, and
// conformance suites. It also runs the library of the identity provider, whose tokens the hub accepts. package.json pins the
// versions.
//
//	go test ./test/clients -run TestClients/oauth4webapi
//
// The first run requires npm, which downloads the clients. On Linux, npm also downloads Node. Each client is one .mjs file in
// this directory. It prints a line that begins with "ok" for each passed check, and ends with an error if a check has failed.
package clients
