// Package history returns the price history of a market. The source is the order book of its venue, or the stored
// snapshots for a market without one. Answers are cached for a time that depends on their interval, because many
// readers open a chart and the venue limits requests.
package history
