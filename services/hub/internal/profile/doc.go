// Package profile updates profiles of operators through the HTTP API and the pages, with the validation of a signed
// profile.update. The ledger stores profiles. The package contains no HTTP and no SQL.
package profile
