// Package manifold speaks Manifold's API, version 0, over a world: the search
// for markets with short records, full records, and bets, with the field names,
// JSON types, paging rules and error forms of the real one. Money is play
// money, times are in milliseconds, ids are case-sensitive, and parameters that
// it does not know are refused. It knows nothing of faults and control routes.
package manifold
