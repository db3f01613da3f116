// Package postgres holds all SQL of the clock.
//
// Statements live in queries/*.sql, one file each, and are named by their file;
// a test prepares every one of them. One store method is one statement and one
// business step. Rows never leave this package: methods take and give the types
// of package program.
package postgres
