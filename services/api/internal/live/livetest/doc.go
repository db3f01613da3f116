// Package livetest has a connection for tests of what the hub writes.
package livetest
