// Package score defines what a call is worth: whether it is late, the price it is scored
// with, its status and score, and whether it counts. It is pure arithmetic. The SQL of package
// postgres that scores a market is tested against it.
package score
