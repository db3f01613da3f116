// Package market is what the ledger knows of a market: its state, its YES
// price, and how both are kept fresh.
//
// Markets of a venue are read through the Venue port and kept; markets of the
// service's own are created here. A stored market never goes back in time: an
// older answer loses against a newer one, and nothing moves a market whose
// outcome was claimed. The package knows no database and no wire format.
package market
