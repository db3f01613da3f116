// Command devidp is the development identity provider: it signs in anybody who
// picks a name, and mints tokens for tests. It speaks plain OpenID Connect and
// the Privy form, so that production code needs no branch for it. It refuses to
// run anywhere but in development and test.
package main
