// Package venue contains the code that the simulated venues share: the interface for the server and the control routes, the rules
// of a venue, JSON responses, and sorted lists of markets.
//
// The package must not contain code for one particular venue. Start reading at Venue.
package venue
