// Package pg is how a service talks to Postgres: a tuned pool, one helper for a
// transaction, statements with a time budget, and the migration runner.
//
// Every failure of the connection becomes the fault db_unavailable (503, with
// retryAfterMs). A cancelled context and pgx.ErrNoRows pass through unchanged;
// whatever else Postgres refuses stays as it is and is internal unless the store
// handles it. InDoubt tells whether a failed write may have been committed.
//
// The package knows no table and no domain word.
package pg
