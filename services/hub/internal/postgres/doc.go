// Package postgres implements the stores of the hub in the database schema hub. It contains migrations, SQL statements and
// methods.
//
// The directory named queries contains the statements, grouped by subject. sqlc generates package db from them. Each method of a
// store is one business step: one statement or one transaction. It returns an error of the database as db_unavailable.
package postgres
