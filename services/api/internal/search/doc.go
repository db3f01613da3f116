// Package search finds markets by words and finds related markets. The index is in the database, because the text
// search of the venues is not reliable. Results are ids; the prices are read from the store of markets.
package search
