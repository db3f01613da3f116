// Package digest defines the statistics of the hub's daily digest. It does not depend on a transport or a database.
package digest
