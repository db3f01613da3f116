// Package simtest is for tests of the venues: a world on a clock that the test
// moves, requests to a venue, and a comparison of answers with samples, member
// by member, names and JSON types.
package simtest
