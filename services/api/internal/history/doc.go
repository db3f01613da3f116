// Package history returns the price history of a market. The source is the order book of the market at the primary venue, or
// else the stored price snapshots. Histories are cached for a time that depends on the requested interval, because many readers
// open a chart and the venue limits requests.
package history
