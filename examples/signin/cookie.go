package main

import (
	"crypto/rand"
	"net/http"
	"time"
)

// random is a name that nobody guesses: 26 letters hold 130 bits.
func random() string { return rand.Text() }

// cookies makes one kind of cookie.
type cookies struct {
	name   string
	secure bool // they travel over https alone
}

// newCookies has a prefix in the name over https, by which browsers refuse a cookie that
// another host or a plain connection has set.
func newCookies(name string, secure bool) cookies {
	if secure {
		name = "__Host-" + name
	}
	return cookies{name, secure}
}

// make gives a cookie that no script can read. Lax, because the browser comes back from the
// hub by a link of another site; Strict would lose it on the way.
func (c cookies) make(value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{Name: c.name, Value: value, Path: "/", MaxAge: int(lasts.Seconds()), HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode}
}

// drop gives the one that takes it back.
func (c cookies) drop() *http.Cookie {
	gone := c.make("", 0)
	gone.MaxAge = -1
	return gone
}
