// Package venue contains the common code of the simulated venues: the interface that the server and the control routes use, the
// rules of a venue, JSON answers, and sorted lists of markets.
//
// The package must not contain code for one venue. Start reading at Venue.
package venue
