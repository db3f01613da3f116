// Package search finds markets by words and finds related markets. It uses an index in the database, because the text search
// of the venues is not reliable. Results are market ids; the caller reads the prices from the store of markets.
package search
