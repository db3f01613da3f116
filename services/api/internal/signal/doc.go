// Package signal is the locked call: what may be filed, what it is priced at,
// and the reads around it.
//
// One operator has one signal per market and the first one stays as it was
// filed. Later additions are events. The package knows no database, no wire
// format and no venue.
package signal
