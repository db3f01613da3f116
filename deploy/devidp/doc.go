// Command devidp is the identity provider for development and tests. Its login page signs in under any name without a password,
// and POST /mint issues tokens for tests. It supports OpenID Connect and the API of Privy, so that the services need no special
// code for it. It exits with 2 unless ENV is development or test.
package main
