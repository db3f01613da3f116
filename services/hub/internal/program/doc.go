// Package program parses queries for the broadcast programme and requests of administrators to change it. It builds the requests
// to the clock service, which stores the programme and the changes.
package program
