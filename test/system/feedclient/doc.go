// Package feedclient reads the live feed as the programs of users do and records every numbered event, for a comparison with
// the database.
//
// A Reader survives cut connections and restarts of the server: it continues after the last number that it recorded.
package feedclient
