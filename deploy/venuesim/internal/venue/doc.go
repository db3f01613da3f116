// Package venue contains what the simulated venues share: the interface that the server and the control routes use, the rules
// of a venue, the JSON of its answers, and sorted lists of markets.
//
// It must not contain anything of one venue. Start reading at Venue.
package venue
