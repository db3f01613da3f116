// Package postgres stores the programme of the clock.
//
// queries/ has the statements by subject; sqlc generates package db from them. A method of Store is one business step:
// one statement, or one transaction. Methods take and return the types of package program.
package postgres
