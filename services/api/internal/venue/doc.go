// Package venue is what the clients of the market venues have in common: the
// one form of a market, the errors, and a careful HTTP client (time-outs, size
// limit, a rate that is shared out by purpose, retries, circuit breaker). Each
// venue's own words stay in its sub-package. It knows no storage and no route of
// ours.
package venue
