// Package ratelimit counts calls against "so many in any window", exactly: a log of
// the calls of the last window, not a bucket that refills and not a counter that
// starts over, so no burst at an edge passes twice.
//
// Limiter is for keys that several processes share: the log is kept in Redis by
// one script on Redis's own clock. Every process keeps its own log beside it.
// When Redis does not answer, a process allows floor(limit / replicas) on its own
// log: never open, never closed, and across the switch at most twice the limit.
//
// Local is for what one process counts alone, such as addresses without a
// credential; it touches no Redis.
package ratelimit
