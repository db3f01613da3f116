// Package server is the development issuer: discovery and keys, tokens of the plain OpenID Connect form and of the Privy form, the
// users interface in the Privy form, the login page, and the routes with which tests add users and tokens. It refuses to run
// in production. Start reading at Run and handler.
package server
