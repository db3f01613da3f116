// Package digest defines the statistics of one day that the daily digest of the hub contains. It does not depend on a
// transport or a database.
package digest
