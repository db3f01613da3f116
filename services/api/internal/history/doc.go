// Package history returns the price history of a market. The source is the order book of the market at its venue, or the
// stored price snapshots for a market without an order book. Histories are cached for a time that depends on the requested
// interval, because many readers open a chart and the venue limits requests.
package history
