// Package venuetest provides test hosts that simulate all venues, and adapters that read these hosts. Host serves fixed
// responses by path. Simulator runs the venue simulator of deploy/venuesim.
package venuetest
