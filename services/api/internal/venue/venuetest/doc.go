// Package venuetest is what the tests of the adapters and of the scan share: hosts that play
// all venues, one from a table of answers and one that is the simulator, and the adapters
// that read them.
package venuetest
