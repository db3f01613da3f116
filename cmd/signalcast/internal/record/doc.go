// Package record reads the record of an operator line by line and computes each of its numbers again from the calls.
//
// It shares only the package pkg/skill, with the statistics of docs/method.md, with the services. It implements scores, moments
// and totals a second time, so that a verification finds mistakes of a service.
package record
