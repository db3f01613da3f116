// Package ratelimit limits the number of requests in any time window exactly. It stores the times of the requests of the last
// window (a sliding log). Unlike a token bucket or a fixed window, a sliding log never allows more than the limit in a window.
//
// Limiter is for keys that several processes share. A Lua script stores the log in Redis and uses the clock of Redis. Each
// process also keeps a local log. If Redis does not answer, each process allows its share of the limit by its local log: limit /
// replicas requests, rounded down, at least 1. Around a switch to or from this fallback, one window can contain up to twice the
// limit.
//
// Shared is for limits of several processes on requests that must not wait for Redis, such as those of IP addresses. It reports
// requests to Redis after they were allowed. All processes together may exceed the limit by the requests of one second.
//
// Local is for limits of a single process. It does not use Redis.
package ratelimit
