package main

import (
	"net/http"
	"time"

	"github.com/gorilla/securecookie"
	"golang.org/x/oauth2"
)

// signInTimeout is the time limit of a sign-in, from the first click to the authorization response of the hub.
const signInTimeout = 10 * time.Minute

// pendingSignIns stores each pending sign-in in an encrypted cookie of the browser that started it, so pending sign-ins use
// no memory of the app. The encryption keys are created when the app starts, so a restart invalidates pending sign-ins.
type pendingSignIns struct {
	cookies cookies
	box     *securecookie.SecureCookie
}

func newPendingSignIns(secure bool) *pendingSignIns {
	box := securecookie.New(securecookie.GenerateRandomKey(32), securecookie.GenerateRandomKey(32))
	return &pendingSignIns{newCookies("signin", secure), box.MaxAge(int(signInTimeout.Seconds()))}
}

// start starts a sign-in and sets its cookie. The cookie contains the encrypted PKCE verifier, which can be decrypted only with
// the same state.
func (b *pendingSignIns) start(w http.ResponseWriter) (state, verifier string, err error) {
	state, verifier = random(), oauth2.GenerateVerifier()
	sealed, err := b.box.Encode(state, verifier)
	http.SetCookie(w, b.cookies.create(sealed, signInTimeout))
	return state, verifier, err
}

// finish returns the PKCE verifier of the sign-in that this browser started with the state, and deletes the cookie. It returns
// false and does not delete the cookie if the browser sent none or if the state belongs to another sign-in.
func (b *pendingSignIns) finish(w http.ResponseWriter, r *http.Request, state string) (verifier string, ok bool) {
	c, err := r.Cookie(b.cookies.name)
	if err != nil || b.box.Decode(state, c.Value, &verifier) != nil {
		return "", false
	}
	http.SetCookie(w, b.cookies.expired())
	return verifier, true
}
