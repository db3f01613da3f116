// Package venuetest is what the tests of the adapters share: a venue that answers
// from a table, and the samples with the records that are expected of them.
package venuetest
