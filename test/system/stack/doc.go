// Package stack starts a complete Signalcast system for a test and sends requests to it.
//
// Shared returns a system that all tests of the binary with equal settings share. Start starts a system for a single test. Most
// functions receive the test, and fail it if they cannot do their work. The package requires Linux, because it reads /proc.
//
// Start reading in stack.go. client.go sends requests; operator.go and market.go create operators, calls and markets.
package stack
