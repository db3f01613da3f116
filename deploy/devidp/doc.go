// Command devidp is the identity provider for development and tests. Its login page signs in under any name without a password,
// and POST /mint issues tokens for tests. It supports OpenID Connect and the API of Privy, so that the services need no special
// code for it. It exits with 2 unless ENV is development or test. With the argument health, it exits with 0 if the issuer at
// HTTP_ADDR answers, otherwise with 1.
package main
