// Package cache stores loaded values by key for a time. Concurrent reads of a key share one load (single flight), a stale value is
// returned while it is loaded again, and an old one when the load fails. Flight is the single flight alone.
package cache
