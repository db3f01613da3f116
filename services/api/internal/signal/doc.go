// Package signal files calls, computes their prices, and returns stored calls.
//
// An operator can file one call per market. A stored call does not change; later additions are stored as events. The package
// does not depend on a database, a transport format or a venue.
package signal
