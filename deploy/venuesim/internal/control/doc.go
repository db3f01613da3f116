// Package control is how a test steers the simulated venues: it creates and
// changes markets and makes a venue fail in the ways that venues fail. Its
// routes are ours, not a venue's.
package control
