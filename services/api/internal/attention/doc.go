// Package attention computes the attention score of every open market, the heatmap that follows from the scores, and the moves
// and situations of package movement.
//
// A Service reads the data of all open markets at regular intervals and caches the computed result in memory. It answers
// requests from this result; only histories are read from the store. Each process has its own Service. The one process that runs
// Keep stores the shared state: the history of scores and the times at which moves were first seen.
//
// The package does not depend on the database or on its callers.
package attention
