// Package ledgerclient contains the gRPC client of the api, which stores the ledger of calls. The hub and the clock
// use it. The hub also uses its timeouts for the programs that it reads from the clock. Start reading at Client.
package ledgerclient
