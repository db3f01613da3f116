// Package brokertest provides a connection in memory for tests that use package broker.
package brokertest
