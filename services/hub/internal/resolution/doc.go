// Package resolution holds outcome claims, disputes and the venue scan as the
// front door sees them. The ledger claims; this package only names what may
// be asked of it.
package resolution
