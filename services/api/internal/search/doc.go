// Package search finds markets by words, in memory, over what the catalogue
// keeps, because no venue's own text search can be relied on. It knows nothing
// of prices: who shows a market reads it from its store.
package search
