// Package dbtime provides a process clock that follows the clock of the database, and functions that wait. Times that
// different processes store are therefore comparable. Setting the system clock of one machine does not extend limits,
// end sessions or move deadlines.
package dbtime
