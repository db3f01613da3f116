package main

import (
	"crypto/rand"
	"net/http"
	"time"
)

// random returns a random text of 26 characters with at least 128 bits, which cannot be guessed.
func random() string { return rand.Text() }

// cookies creates cookies with a fixed name.
type cookies struct {
	name   string
	secure bool // browsers send the cookies only over https
}

// newCookies returns cookies with a name. Over https, the name has the prefix __Host-, so browsers reject such a cookie from
// another host or over an unencrypted connection.
func newCookies(name string, secure bool) cookies {
	if secure {
		name = "__Host-" + name
	}
	return cookies{name, secure}
}

// create returns a cookie that scripts cannot read. It is SameSite=Lax, because the browser returns from the hub by a redirect of
// another site, with which it would not send a Strict cookie.
func (c cookies) create(value string, lifetime time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: c.name, Value: value, Path: "/", MaxAge: int(lifetime.Seconds()), HttpOnly: true, Secure: c.secure,
		SameSite: http.SameSiteLaxMode,
	}
}

// expired returns a cookie that deletes the cookie in the browser.
func (c cookies) expired() *http.Cookie {
	cookie := c.create("", 0)
	cookie.MaxAge = -1
	return cookie
}
