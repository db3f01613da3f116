// Package memledger is a small ledger and a small clock in memory, behind the
// true gRPC contracts and with the true faults. Only tests import it: they
// speak to it over an in-memory link, so everything between a route and the
// wire is the real thing. It keeps the rules a client can see (one call a
// market and operator, one claim a market, revoked keys, idempotency) and
// invents nothing else.
package memledger
