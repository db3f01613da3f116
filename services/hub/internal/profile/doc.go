// Package profile is what operators say of themselves through the front door: the
// same write, under the same rules, as a signed profile.update. The ledger keeps it;
// this package stores nothing and knows no transport.
package profile
