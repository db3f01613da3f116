// Package settings serves people who change what is theirs: sessions, operator keys, follows, identity claims and profiles.
//
// It does not decide who the caller is: the guard of the edge does. Start with session.go.
package settings
