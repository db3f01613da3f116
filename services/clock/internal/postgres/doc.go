// Package postgres stores the data of the clock in PostgreSQL: rundowns, entries of directors, airings, samples and the outbox.
//
// queries/ contains the SQL statements, from which sqlc generates package db. Each method of Store executes one statement or one
// transaction. Methods take and return the types of package program.
package postgres
