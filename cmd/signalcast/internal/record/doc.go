// Package record reads the record of an operator line by line and computes each of its numbers again from the lines.
//
// It shares only the statistics of docs/method.md (pkg/skill) with the services. Scores, moments and totals are implemented here
// a second time, so that a mistake in a service is found.
package record
