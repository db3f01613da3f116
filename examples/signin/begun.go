package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// signInWithin is the time from the first click to the answer.
const signInWithin = 10 * time.Minute

// begun keeps sign-ins that wait for their answer where they began: in a cookie that this
// app has sealed. Whoever begins sign-ins for ever fills nothing here. The key is as old as
// the program, so a new start ends what was begun.
type begun struct {
	cookies cookies
	aead    cipher.AEAD
}

func newBegun(secure bool) (*begun, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &begun{cookies: newCookies("signin", secure), aead: aead}, nil
}

// start begins a sign-in. The browser cannot read its verifier.
func (b *begun) start(w http.ResponseWriter) (state, verifier string) {
	state, verifier = random(), oauth2.GenerateVerifier()
	http.SetCookie(w, b.cookies.make(b.seal(state, verifier, time.Now().Add(signInWithin)), signInWithin))
	return state, verifier
}

// take gives the verifier of the sign-in that this browser began with that state, and takes
// the cookie back; an answer to another sign-in leaves it where it is.
func (b *begun) take(w http.ResponseWriter, r *http.Request, state string) (verifier string, ok bool) {
	c, err := r.Cookie(b.cookies.name)
	if err != nil {
		return "", false
	}
	verifier, ok = b.open(c.Value, state, time.Now())
	if ok {
		http.SetCookie(w, b.cookies.drop())
	}
	return verifier, ok
}

// seal binds the verifier to the state: a cookie opens with its own state alone.
func (b *begun) seal(state, verifier string, until time.Time) string {
	plain := append(binary.BigEndian.AppendUint64(nil, uint64(until.Unix())), verifier...)
	return base64.RawURLEncoding.EncodeToString(b.aead.Seal(nil, nil, plain, []byte(state)))
}

func (b *begun) open(sealed, state string, now time.Time) (verifier string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	plain, err := b.aead.Open(nil, nil, raw, []byte(state))
	if err != nil || len(plain) < 8 || now.Unix() >= int64(binary.BigEndian.Uint64(plain)) {
		return "", false
	}
	return string(plain[8:]), true
}
