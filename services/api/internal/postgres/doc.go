// Package postgres contains all SQL of the ledger.
//
// Statements have names and are in queries/*.sql, grouped by subject. sqlc generates package db from them. hot/*.sql
// are complete statements that sqlc cannot express. A test prepares every statement. One store method is one
// transaction and one business step. Database rows do not leave this package: methods take and return the types of the
// subject packages. The entry point is Store in store.go.
package postgres
