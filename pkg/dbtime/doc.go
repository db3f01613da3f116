// Package dbtime is the clock of a process, and waits. It follows the clock of the database, so that the times which different processes
// store are comparable: setting the clock of one machine extends no limit, ends no session and moves no deadline.
package dbtime
