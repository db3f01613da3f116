// Package oidc verifies the tokens of the configured identity providers. One
// code path serves every provider: which one issued a token is only a row of
// configuration. A provider that is not configured is never contacted, keys are
// kept and fetched sparingly, and a token that proves identity is not accepted
// as one that grants access. It also asks a provider which wallets it has linked to
// a subject. The package knows no user and no route.
package oidc
