// Package journal makes changes of the record show. Each row that is written once is
// hashed and becomes a leaf of one growing tree; the root of the tree is signed, and
// whoever has kept a signed root can tell later that nothing behind it was changed. It
// knows neither the rows nor where the tree is kept.
package journal
