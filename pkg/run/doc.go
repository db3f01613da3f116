// Package run runs a process that consists of parts. The parts start in order. They stop in reverse order when a signal
// arrives or the first part fails.
//
// Before any part stops, the Drain function is called, so that the process reports that it is not ready. All parts together
// have one time limit to stop. A part that exceeds it is abandoned and reported as an error.
package run
