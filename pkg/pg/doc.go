// Package pg connects a service to Postgres. It contains the connection pool, transactions, statements with a time
// limit, and the migration runner.
//
// Fault converts errors: if Postgres is unavailable or does not answer in time, the error is the fault db_unavailable
// (503, with retryAfterMs). context.Canceled and pgx.ErrNoRows are returned unchanged. All other errors of Postgres
// are also unchanged and count as internal errors unless the caller handles them.
//
// The package does not depend on the tables of a service.
package pg
