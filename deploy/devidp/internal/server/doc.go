// Package server implements the development issuer: discovery, signing keys, tokens in the forms of OpenID Connect and of Privy,
// the users API of Privy, the login page, and routes by which tests create users and tokens. Config.Check refuses production.
// Start reading at Run and handler.
package server
