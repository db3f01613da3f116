// Package redisx connects to Redis.
//
// Redis stores only data that may be lost. The client therefore has a short timeout (50 ms per command, including the
// connection), never retries, and rejects commands at once after a failure. Until Redis answers again, one command per second
// is sent as a probe, which takes up to 50 ms. All other commands fail at once. All keys start with "sc:".
package redisx
