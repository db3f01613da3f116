// Package kalshi speaks Kalshi's trade API, version 2, over a world: events
// with their markets, single markets, series, candles and the archive, with the
// field names, JSON types, words and error forms of the real one. Counts are
// contracts. It knows nothing of faults and control routes.
package kalshi
