// Package venuetest provides hosts that simulate all venues for the tests of the adapters and of the scan. One host
// answers from a table, the other is the venue simulator. The package also provides adapters that read these hosts.
package venuetest
