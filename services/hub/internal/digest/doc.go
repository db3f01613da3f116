// Package digest is the letter about one day: what the ledger recorded in it, how
// it is sent, and that it is sent once. The package knows no HTTP, no mail and no
// storage.
package digest
