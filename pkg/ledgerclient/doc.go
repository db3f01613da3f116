// Package ledgerclient contains the gRPC client of the api, which stores the ledger of calls (forecasts on markets). The hub and
// the clock use it. The hub also uses WithDeadlines for its connection to the clock.
package ledgerclient
