// Package world is the simulated market universe, free of any venue's wire
// form: markets with a price path, where they come from, and the changes that
// a test makes to them. It knows no HTTP and no JSON field name of a venue.
package world
