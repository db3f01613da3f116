// Package market holds market records as the front door shows them and the
// form of a market that the service creates itself. The ledger owns both.
package market
