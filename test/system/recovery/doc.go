// Package recovery checks that acknowledged data is not lost when processes are killed, when Redis is emptied, when a backup is
// restored, and when the database is migrated under load. It also checks that a client that uses several hubs reads its own
// writes, and that users are notified once and in time.
package recovery
