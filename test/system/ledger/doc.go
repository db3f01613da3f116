// Package ledger tests that clients of several hubs see one ledger. Tests of the rules and statements of the ledger are in
// services/api/internal/postgres.
package ledger
