// Package redisx connects to Redis.
//
// Redis stores only data that may be lost. The client therefore has a short timeout (50 ms per command, including the
// connection), never retries, and rejects commands at once after a failure. One command per second is sent as a probe
// until Redis answers. While Redis is unavailable, one command per second waits 50 ms and all others fail at once.
// All keys start with "sc:".
package redisx
