// Package search finds markets by words and by what they have in common. The index is in the database, because no venue's own text
// search can be relied on. It returns ids: prices are read from the store of markets.
package search
