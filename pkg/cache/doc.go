// Package cache stores loaded values by key for a limited time. Concurrent reads of a key share one load (single
// flight). A stale value is returned while a new load runs, and an expired one if that load fails. Flight provides
// single flight without storage.
package cache
