// Package db executes the statements of ../queries. Except for this file, sqlc generates it.
package db
