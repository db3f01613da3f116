// Package e2e tests the whole system from outside: the launcher starts it, and
// the tests speak HTTP, websockets and a browser with it, as callers do.
//
// One stack is shared by all tests of a run. Tests that break parts of it run
// first, one after the other; everything else runs in parallel after them. Every
// answer that a test gets is held against docs/protocol/openapi.yaml.
package e2e
