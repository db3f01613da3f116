// Package redisx is the connection to Redis.
//
// Redis holds only what may be lost. So the client gives up early (50 ms for one
// command, everything included), never retries, and after a failure refuses at
// once, letting one command a second through as a probe: a Redis that is down
// or hangs costs its callers 50 ms once a second and nothing in between. Every
// key starts with "sc:".
package redisx
