// Package brokertest has a connection for tests of what the hub writes.
package brokertest
