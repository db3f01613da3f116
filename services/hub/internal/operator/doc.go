// Package operator defines operators, their keys, and requests to change them. The ledger stores operators and keys. The package
// contains no HTTP and no SQL.
package operator
