// Package control contains the routes by which tests steer the simulated venues: they create and change markets, set the clock
// and make a venue fail.
//
// It must not contain anything of one venue: what differs is in venue.Rules. Start reading at Handler.
package control
