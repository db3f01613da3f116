// Package operator holds operators and their keys as the front door sees
// them, and the form of what may be asked of either. The ledger owns both:
// this package stores nothing and knows no transport.
package operator
