// Package grant implements delegated authorization (OAuth 2.0, RFC 6749): apps that act for a user, the consent of the user,
// and the tokens of the apps.
//
// An owner registers an App. Authorize shows a consent page to the user. Decide turns the consent into a code. Token redeems
// the code for a Grant with tokens, and refreshes the tokens. Authenticate returns the user and the scopes of an access
// token. A revocation is permanent and takes effect at once: each check of a token reads its grant from the store, and
// nothing is cached.
//
// A secret consists of a prefix and 256 bits that cannot be guessed. Only the SHA-256 hash is stored. The client receives the
// plaintext once.
//
// CodeState.Redeem and RefreshState.Redeem decide whether a code or a refresh token is redeemed. They are pure functions of
// the locked database rows and the time, and the store runs them within one transaction. The package contains no HTTP and no
// SQL. It identifies users only by id, because the ledger stores the users.
package grant
