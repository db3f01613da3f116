// Package postgres stores the data of the clock service in PostgreSQL: rundowns (the planned slots of channels), entries of
// directors, airings, samples and the outbox.
//
// queries/ contains the SQL statements, from which sqlc generates package db. Each method of Store executes one statement or one
// transaction. Methods take and return the types of package program.
package postgres
