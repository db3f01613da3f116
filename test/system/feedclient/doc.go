// Package feedclient reads the live feed as client programs do and records every numbered event, so that a test can compare the
// events with the database.
//
// A Reader continues after a lost connection or a restart of the server. It resumes after the last event number that it
// recorded.
package feedclient
