// Package recovery tests that nothing that was acknowledged is lost: when processes are killed, when Redis is emptied, when a
// backup is restored, and when the database is migrated under load.
package recovery
