// Package token holds the issuer's keys and signs its tokens, in the plain
// OpenID Connect form and in the Privy form.
package token
