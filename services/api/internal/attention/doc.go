// Package attention computes the attention score of every open market, the heatmap that follows from the scores, and
// the moves and situations of package movement.
//
// A Service reads the facts of all open markets once a minute and caches the computed result in memory. All requests
// are answered from this result. Each process has its own Service; all of them read the same database rows and
// therefore return the same data. The process that runs Keep writes the shared state: the history of attention and the
// times at which moves were first seen.
//
// The package does not depend on the database or on its callers.
package attention
