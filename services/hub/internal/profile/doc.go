// Package profile updates profiles of operators for the HTTP API and the pages. It validates them like a signed message of type
// profile.update. The ledger stores profiles. The package contains no HTTP and no SQL.
package profile
