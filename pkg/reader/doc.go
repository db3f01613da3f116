// Package reader accepts credentials on public reads of the api and the clock, which require none.
//
// A valid credential changes nothing in the answer. It selects the rate limit: the request counts against the limit of the
// credential and not against the limit of its IP address. An invalid, revoked or expired credential is rejected. A valid one is
// remembered for Life, so a public read may accept a credential for that long after its revocation. Other routes must not use
// this package to authenticate.
//
// Start with Guard in guard.go.
package reader
