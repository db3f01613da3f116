// Package postgres is the schema `hub`: its migrations and its statements.
// Only this package sees rows. Every lost, refused or late answer of the
// database is db_unavailable.
package postgres
