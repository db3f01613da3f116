// Package digest is what the ledger recorded in one day, for the letter about it.
// It is a read over whole days, made once in a while. The package knows no
// transport and no storage.
package digest
