package main

import (
	"net/http"
	"time"

	"github.com/gorilla/securecookie"
	"golang.org/x/oauth2"
)

// signInWithin is the time from the first click to the answer.
const signInWithin = 10 * time.Minute

// begun keeps sign-ins that wait for their answer where they began: in a cookie that this
// app has sealed. A client that begins many sign-ins uses no memory here. The keys are as old as
// the program, so a new start ends what was begun.
type begun struct {
	cookies cookies
	box     *securecookie.SecureCookie
}

func newBegun(secure bool) *begun {
	box := securecookie.New(securecookie.GenerateRandomKey(32), securecookie.GenerateRandomKey(32))
	return &begun{newCookies("signin", secure), box.MaxAge(int(signInWithin.Seconds()))}
}

// start begins a sign-in. The browser cannot read its verifier, which is bound to the state:
// a cookie opens with its own state alone.
func (b *begun) start(w http.ResponseWriter) (state, verifier string, err error) {
	state, verifier = random(), oauth2.GenerateVerifier()
	sealed, err := b.box.Encode(state, verifier)
	http.SetCookie(w, b.cookies.make(sealed, signInWithin))
	return state, verifier, err
}

// take gives the verifier of the sign-in that this browser began with that state, and takes
// the cookie back; an answer to another sign-in leaves it where it is.
func (b *begun) take(w http.ResponseWriter, r *http.Request, state string) (verifier string, ok bool) {
	c, err := r.Cookie(b.cookies.name)
	if err != nil || b.box.Decode(state, c.Value, &verifier) != nil {
		return "", false
	}
	http.SetCookie(w, b.cookies.drop())
	return verifier, true
}
