// Package ledgerclient calls the gRPC services of the api, which owns the ledger. The hub and
// the clock use it, and the hub uses its deadlines for the programmes of the clock too. Start
// reading at Client. The package has no rules of its own about calls, markets or operators.
package ledgerclient
