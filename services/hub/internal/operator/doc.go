// Package operator defines operators and their keys, and validates changes to both. The ledger stores operators and keys. The
// package contains no HTTP and no SQL.
package operator
