// Package search finds markets by words and finds related markets. It uses an index in the database, not the text search of the
// venues. Results are market ids; the caller reads the prices from the store of markets.
package search
