// Package operator defines operators, their keys and the validation of changes to both. The ledger stores operators and
// keys. The package contains no HTTP and no SQL.
package operator
