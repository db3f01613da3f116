// Package postgres implements the stores of the hub in the schema hub of the database: migrations, SQL statements and
// methods.
//
// The directory queries contains the statements by subject; sqlc generates package db from them. A method of a store is
// one business step: one statement or one transaction. An error of the database is returned as db_unavailable.
package postgres
