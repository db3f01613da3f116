// Package attention knows what happens around every open market: how much attention
// each gets (contract 4.16.1), the heatmap that follows from it (4.6.1), and the
// moves and situations of package wire.
//
// A Service reads the facts of all open markets once a minute, works everything
// out and keeps the result in memory, where all reads are answered. Each process
// has its own; as all of them go by the same rows, they say the same. What must
// be the same for all and outlive them, the history of attention and since when
// something moves, is written by the one that runs Keep.
//
// It knows nothing of databases and of who asks.
package attention
