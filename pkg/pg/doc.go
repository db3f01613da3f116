// Package pg connects a service to Postgres. It has the connection pool, a helper for transactions, statements with a time limit,
// and the migration runner.
//
// Fault converts the errors: a lost, refused or late answer becomes the fault db_unavailable (503, with retryAfterMs). A cancelled
// context and pgx.ErrNoRows are returned unchanged. So is each other error of Postgres, which is an internal error unless the caller
// handles it.
//
// The package contains no table names and no terms of a service.
package pg
