// Package grant is delegated sign-in: apps that act for a user, the consent
// that lets them, and the tokens that carry it.
//
// An owner registers an App. A user consents on the page that Authorize asks
// for; Decide turns the consent into a code, Token a code into a Grant with its
// tokens, and a refresh token into the next one. Authenticate says for whom a
// bearer speaks. A grant is revoked once and for ever: every check of a token
// reads its grant, and nothing that lets anybody in is remembered.
//
// Secrets are 256 random bits behind a prefix. Only their SHA-256 leaves the
// function that makes them; the plaintext goes to the caller and nowhere else.
//
// The rules of a code (Code.Redeem) and of a refresh token (RefreshState.Turn) are
// pure functions of the locked rows and the time; the store runs them inside one
// transaction. The package knows no HTTP and no storage. Who the user is belongs
// to the ledger: a user here is an id.
package grant
