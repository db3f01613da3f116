// Package recovery tests that nothing that was acknowledged is lost: when processes are killed, when Redis is emptied, when a
// backup is restored, and when the database is migrated under load; and that clients of several hubs read what they have written.
package recovery
