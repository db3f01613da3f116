// Package resolution is the one claim of a market's outcome and the scoring that
// follows it.
//
// Every door (finalize, forced resolution, venue scan) ends in Service.Claim. A
// claim and its scores commit together; a market with more signals than one
// transaction takes is claimed first and drained in restartable chunks.
package resolution
