// Package server implements the development issuer. It serves discovery, signing keys, the users API of Privy, and the login
// page. It issues tokens in the formats of OpenID Connect and of Privy, and has routes by which tests create users and tokens.
// Config.Check refuses production. Start reading at Run and handler.
package server
