// Package stack starts a complete Signalcast system for a test and sends requests to it.
//
// Shared returns a system that all tests of the binary with the same settings use. Start starts a system for a single
// test. Every helper takes the test and fails it if the helper cannot do its work. The process ids come from the
// stack.json of the system, and no other process receives a signal. The package requires Linux, because it reads /proc.
//
// Start reading in stack.go. client.go sends requests; operator.go and market.go create operators, calls and markets.
package stack
