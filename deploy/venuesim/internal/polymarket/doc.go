// Package polymarket speaks Polymarket's two read services over a world: the
// metadata service under /gamma and the order-book service under /clob, with
// the field names, JSON types, paging rules, limits and error forms of the real
// ones, oddities included. It knows nothing of faults and control routes.
package polymarket
