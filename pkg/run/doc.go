// Package run gives a process its life: parts start in order, and stop in
// reverse order when a signal comes or the first part fails.
//
// Stopping begins with the Drain function, so that the process is no longer
// ready before anything closes. All stopping together has one budget; a part
// that needs longer is left behind and reported. The package knows nothing of
// what the parts do.
package run
