// Package postgres contains all SQL of the ledger (database schema api).
//
// Statements have names and are in queries/*.sql, grouped by subject. sqlc generates package db from them. The files
// hot/*.sql contain one statement each that sqlc cannot express. A test prepares every statement. Database rows do not leave
// this package: methods take and return the types of the subject packages. The entry point is Store in store.go.
package postgres
