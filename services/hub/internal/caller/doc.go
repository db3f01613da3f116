// Package caller answers one question: who is asking?
//
// It knows the forms of the credentials (operator key, first-party session,
// app token, identity-provider login, admin and cron secret), which of them a route
// takes, and in which order they are weighed. Authority stays with the
// ledger: what is remembered here may refuse early or decide when to count,
// and never lets anybody in. The package knows no HTTP and no storage.
package caller
