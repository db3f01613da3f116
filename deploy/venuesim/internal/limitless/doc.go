// Package limitless speaks Limitless's read API over a world: the list of
// active markets, single markets and groups, order books and price lines, with
// the field names, JSON types, scales and error forms of the real one. Markets
// with a pool show prices from 0 to 100, those with a book from 0 to 1. It knows
// nothing of faults and control routes.
package limitless
