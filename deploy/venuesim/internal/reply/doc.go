// Package reply holds what the venues share in answering: writing JSON, keeping
// a sorted listing for a few seconds, and laying a test's changes over a
// recorded object.
package reply
