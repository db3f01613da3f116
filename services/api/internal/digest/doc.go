// Package digest defines the figures of one day that the daily digest of the hub contains. It does not depend on a transport or
// a database.
package digest
