package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"log"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

var (
	errTooMany = errors.New("too many sign-ins are open")
	errNotOurs = errors.New("the answer belongs to no sign-in of this browser")
	errNobody  = errors.New("nobody is signed in")
)

// begin sends the browser to the page where the person decides. It is a link and no form:
// it changes nothing here, and the policy of forms would have to name every host on the way.
func (a *app) begin(w http.ResponseWriter, r *http.Request) {
	s := a.waiting.start(w, &session{state: random(), verifier: oauth2.GenerateVerifier()}, signInWithin)
	if s == nil {
		a.fail(w, nil, errTooMany, nil)
		return
	}
	http.Redirect(w, r, a.oauth.AuthCodeURL(s.state, oauth2.S256ChallengeOption(s.verifier)), http.StatusSeeOther)
}

// callback is where the browser comes back with an answer. It is taken only in the browser
// that asked (state), only from the hub that was asked (iss, RFC 9207), and only once.
func (a *app) callback(w http.ResponseWriter, r *http.Request) {
	q, asked, before := r.URL.Query(), a.waiting.of(r), a.sessions.of(r)
	if asked == nil || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(asked.state)) != 1 ||
		q.Get("iss") != a.issuer || !a.waiting.end(w, asked) {
		a.fail(w, before, errNotOurs, nil)
		return
	}
	if code := q.Get("error"); code != "" {
		a.fail(w, before, refusal{Code: code}, nil)
		return
	}
	token, err := a.oauth.Exchange(withClient(r.Context()), q.Get("code"), oauth2.VerifierOption(asked.verifier))
	if err != nil {
		a.fail(w, nil, err, nil)
		return
	}
	var me struct {
		Username string `json:"username"`
		DenpaID  string `json:"denpaId"`
	}
	if err := a.ask(r.Context(), http.MethodGet, "/api/protocol/v1/me", request{bearer: token.AccessToken}, &me); err != nil {
		a.fail(w, nil, err, nil)
		return
	}
	// A new session, so that a name from before the sign-in is worth nothing after it.
	if a.sessions.start(w, &session{user: or(me.Username, me.DenpaID), token: token}, sessionFor) == nil {
		a.fail(w, nil, errTooMany, nil)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther) // and the code is out of the address bar
}

// access gives an access token that is good for a while, renewed when it has to be. A
// refresh token works once, so renewals wait for each other and the new one is kept.
func (a *app) access(ctx context.Context, s *session) (string, error) {
	if s == nil {
		return "", errNobody
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Until(s.token.Expiry) > a.RenewEarly {
		return s.token.AccessToken, nil
	}
	renewed, err := a.oauth.TokenSource(withClient(ctx), &oauth2.Token{RefreshToken: s.token.RefreshToken}).Token()
	if err != nil {
		return "", err
	}
	s.token = renewed
	return renewed.AccessToken, nil
}

// signOut gives the permission back and then forgets it. Revoking the refresh token ends
// the whole grant, so whoever has a copy of the tokens has nothing.
func (a *app) signOut(w http.ResponseWriter, r *http.Request) {
	s := a.sessions.of(r)
	if s.name() != "" {
		s.mu.Lock()
		form := url.Values{"token": {s.token.RefreshToken}, "token_type_hint": {"refresh_token"}, "client_id": {a.ClientID}}
		s.mu.Unlock()
		if a.ClientSecret != "" {
			form.Set("client_secret", a.ClientSecret)
		}
		if err := a.send(r.Context(), a.revoke, form); err != nil {
			log.Print("revoke: ", err) // the person is signed out here all the same, and is told
			a.sessions.end(w, s)
			a.show(w, http.StatusBadGateway, nil, view{Problem: "You are signed out here, but the hub could not be told. Open Connected apps at the hub and end the connection there."})
			return
		}
	}
	a.sessions.end(w, s)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
