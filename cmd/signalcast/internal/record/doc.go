// Package record reads the record of an operator line by line and computes each of its numbers again from the calls.
//
// The only package that it shares with the services is pkg/skill, which computes the statistics of docs/method.md. It implements
// scores, moments and totals a second time, so that a verification finds mistakes of a service.
package record
