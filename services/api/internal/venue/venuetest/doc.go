// Package venuetest provides test hosts that simulate all venues, and adapters that read these hosts. Host answers from a
// table of paths. Simulator runs the venue simulator of deploy/venuesim.
package venuetest
