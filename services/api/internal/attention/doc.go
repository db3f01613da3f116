// Package attention computes the attention score of every open market, the heatmap that follows from the scores, and the
// moves and situations of package movement.
//
// A Service reads the data of all open markets once a minute and caches the computed result in memory. It answers all
// requests from this result. Each process has its own Service. All processes read the same database rows and therefore
// return the same data. The one process that runs Keep stores the shared state: the history of scores and the times at which
// moves were first seen.
//
// The package does not depend on the database or on its callers.
package attention
