// Package control contains the routes with which tests control the simulated venues. The routes create and change markets, set
// the clock, and make a venue fail.
//
// The package must not contain code for one particular venue. venue.Rules describes the differences between venues. Start
// reading at Handler.
package control
