// Package stack starts one whole system for a test and talks to it.
//
// Shared returns a system that all tests of the binary with the same settings use; Start runs one for a single test.
// Every helper takes the test and fails it by itself. Processes are found in the stack.json of that one system, and no
// other process is signalled. It requires Linux: it reads /proc.
//
// Start reading in stack.go; client.go sends requests, operator.go and market.go create what tests need.
package stack
