// Package postgres holds all SQL of the ledger.
//
// Statements live in queries/*.sql, one file each, and are named by their file;
// a test prepares every one of them. One store method is one transaction and
// one business step. Rows never leave this package: methods take and give the
// types of the subjects.
package postgres
