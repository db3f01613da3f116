// Package signal files calls, computes their prices, and reads them.
//
// An operator can file one call per market. A stored call does not change; later additions are stored as events. The package
// has no dependency on a database, a wire format or a venue.
package signal
