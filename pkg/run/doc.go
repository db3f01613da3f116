// Package run runs a process that consists of parts. The parts start in order. They stop in reverse order when a
// signal arrives or the first part fails.
//
// A stop begins with the Drain function, so that the process is not ready before anything closes. All parts together
// have one time limit to stop. A part that exceeds it is abandoned and reported as an error.
package run
