// Package postgres contains all SQL of the ledger.
//
// Statements are named, in queries/*.sql by subject; sqlc generates package db of
// them. hot/*.sql are complete statements that sqlc does not express. A test
// prepares every one. One store method is one transaction and one business step.
// Rows never leave this package: methods take and return the types of the
// subjects. Start reading at Store in store.go.
package postgres
