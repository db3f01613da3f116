// Package caller authenticates requests and counts them against rate limits.
//
// It contains the formats of the credentials (operator key, first-party session, app token, identity-provider login, admin secret
// and cron secret), the sets of credentials that routes accept, and their order of precedence. The ledger decides whether a key
// is valid. A cached result of the ledger can refuse a request early or decide when the request is counted, but it never admits a
// request. The package contains no HTTP and no SQL.
package caller
