// Package brokertest provides an in-memory connection for tests of the broker.
package brokertest
