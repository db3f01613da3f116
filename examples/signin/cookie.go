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

// newCookies returns a cookies value for the given name. If secure is true (https), it adds the prefix __Host- to the name, so
// browsers reject a cookie of that name from another host or from an unencrypted connection.
func newCookies(name string, secure bool) cookies {
	if secure {
		name = "__Host-" + name
	}
	return cookies{name, secure}
}

// create returns a cookie that scripts cannot read. It is SameSite=Lax, because the hub is another site: the browser would not
// send a Strict cookie when the hub redirects it back to the app.
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
