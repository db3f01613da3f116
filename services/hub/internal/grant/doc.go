// Package grant implements delegated authorization (OAuth 2.0, RFC 6749): apps that act for a user, the consent of the user, and
// the tokens.
//
// An owner registers an App. Authorize shows the user a consent page. Decide turns the consent into a code, Token
// redeems the code for a Grant with tokens, and refreshes them. Authenticate returns the user and the scopes of an
// access token. Revocation is permanent and takes effect at once: each check of a token reads its grant from the store
// and nothing is cached.
//
// Secrets are a prefix and 256 random bits. Only the SHA-256 hash is stored; the plaintext is returned to the client
// once.
//
// Code.Redeem and RefreshState.Redeem decide about codes and refresh tokens. They are pure functions of the locked rows
// and the time, and the store runs them within one transaction. The package contains no HTTP and no SQL. Users are ids:
// the ledger stores them.
package grant
