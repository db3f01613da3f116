// Package chrono tells a service the time: that of the database, carried on by the
// time that has passed in the process.
//
// All times on record come from one clock that way, whichever process writes them, and
// nobody who sets the clock of one machine, by hand or by mistake, opens a limit, ends
// a session or moves a deadline there.
package chrono
