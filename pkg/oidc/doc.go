// Package oidc verifies tokens of the configured identity providers.
//
// All providers share one implementation; they differ only in their configuration. Issuers that are not configured
// are never contacted. Keys are cached, and the rate of key requests is limited. An identity token is not accepted as
// an access token. The package also requests the wallets that a provider has linked to a user.
package oidc
