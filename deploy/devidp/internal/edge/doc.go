// Package edge is the HTTP face of the development issuer: discovery and keys,
// the users interface in the Privy form, the login page, and the routes with
// which tests make users and tokens.
package edge
