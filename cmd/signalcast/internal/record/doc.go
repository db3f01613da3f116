// Package record reads the record of an operator line by line and computes each of its numbers again from the calls.
//
// It takes the statistics of docs/method.md from pkg/skill, which the services use as well. It implements scores, moments and
// totals a second time, so that a verification finds mistakes of a service.
package record
