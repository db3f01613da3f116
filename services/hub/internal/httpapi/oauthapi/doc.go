// Package oauthapi serves apps of other developers: registration, tokens (RFC 6749), discovery (RFC 8414, RFC 9728), grants and
// passports.
//
// Package grant has the rules of grants. Start with oauth.go.
package oauthapi
