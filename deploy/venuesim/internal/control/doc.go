// Package control contains the routes with which tests control the simulated venues. They create and change markets, set the
// clock and make a venue fail.
//
// The package must not contain code for one venue. Differences between venues are in venue.Rules. Start reading at Handler.
package control
