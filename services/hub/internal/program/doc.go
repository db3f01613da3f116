// Package program parses queries for the broadcast programme and requests of directors to change it, and builds the requests to
// the clock service. The clock stores the programme and these requests.
package program
