// Package postgres is the schema hub: its migrations, its statements, and the stores that the rules of the hub use.
//
// queries/ has the statements by subject; sqlc generates package db from them. A method of a store is one business step:
// one statement, or one transaction. Only this package sees rows. An error of the database is db_unavailable.
package postgres
