// Package recovery tests that acknowledged data is not lost when processes are killed, when Redis is emptied, when a backup is
// restored, and when the database is migrated under load. It also tests that clients that use several hubs read their own
// writes.
package recovery
