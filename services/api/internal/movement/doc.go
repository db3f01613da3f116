// Package movement tells where belief moved: how far the price of each open market
// went within a window, and which of these moves make one story (contract 4.15).
//
// Everything here is arithmetic over facts that the caller brings, the time
// included. It knows nothing of where prices are kept and who asks.
package movement
