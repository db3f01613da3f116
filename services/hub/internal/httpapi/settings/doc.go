// Package settings serves the account settings of operators: sessions, operator keys, follows, identity claims and profiles.
//
// The guard in package httpapi resolves the caller before these handlers run. Start with session.go.
package settings
