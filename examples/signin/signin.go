package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
)

var (
	errUnknownSignIn = errors.New("the answer does not belong to a sign-in of this browser")
	errCodeExpired   = errors.New("the authorization code is expired or already used")
	errNotSignedIn   = errors.New("not signed in")
	errGrantEnded    = errors.New("the grant has ended and cannot be renewed")
)

// startSignIn redirects the browser to the consent page of the hub. The page of the app has a link to this handler and not a
// form: starting a sign-in changes nothing in the app, and the form-action policy would have to list all hosts of the redirects.
func (a *app) startSignIn(w http.ResponseWriter, r *http.Request) {
	state, verifier, err := a.pending.start(w)
	if err != nil {
		a.showProblem(w, nil, problemOf(err), nil)
		return
	}
	http.Redirect(w, r, a.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
}

// callback handles the authorization response of the hub. It accepts a response only from the expected hub (iss, RFC 9207), only
// in the browser that started the sign-in (state), and only once. The current session of the browser ends only after a successful
// sign-in.
func (a *app) callback(w http.ResponseWriter, r *http.Request) {
	q, before := r.URL.Query(), a.sessions.find(r)
	verifier, known := "", false
	if q.Get("iss") == a.issuer {
		verifier, known = a.pending.finish(w, r, q.Get("state"))
	}
	switch {
	case !known:
		a.showProblem(w, before, problemsByError[errUnknownSignIn], nil)
		return
	case q.Has("error"):
		a.showProblem(w, before, problemOfAnswer(q.Get("error")), nil)
		return
	}
	user, token, err := a.exchange(r.Context(), q.Get("code"), verifier)
	if err != nil {
		a.showProblem(w, before, problemOf(err), nil)
		return
	}
	a.sessions.remove(before)
	for _, s := range []*session{before, a.sessions.start(w, user, token)} { // each session has a separate grant
		if s == nil {
			continue
		}
		if err := a.revoke(r.Context(), s.close()); err != nil {
			log.Print("revocation of an earlier session failed: ", err)
		}
	}
	http.Redirect(w, r, "/", http.StatusSeeOther) // removes the code from the address bar
}

// exchange exchanges the code for tokens and reads the user name. If it cannot read the name, it revokes the tokens. Error:
// errCodeExpired if the hub does not accept the code.
func (a *app) exchange(ctx context.Context, code, verifier string) (user string, token *oauth2.Token, err error) {
	token, err = a.oauth.Exchange(withClient(ctx), code, oauth2.VerifierOption(verifier))
	if failure := (*oauth2.RetrieveError)(nil); errors.As(err, &failure) && failure.ErrorCode == "invalid_grant" {
		return "", nil, errCodeExpired
	}
	if err != nil {
		return "", nil, err
	}
	var me struct {
		Username string `json:"username"`
		DenpaID  string `json:"denpaId"`
	}
	if err = a.sendJSON(ctx, http.MethodGet, "/api/protocol/v1/me", request{bearer: token.AccessToken}, &me); err != nil {
		if err := a.revoke(ctx, token); err != nil {
			log.Print("revocation of unused tokens failed: ", err)
		}
		return "", nil, err
	}
	return cmp.Or(me.Username, me.DenpaID), token, nil
}

// signOut ends the session and revokes its grant. Revoking the refresh token ends the whole grant, so copies of the tokens are
// useless.
func (a *app) signOut(w http.ResponseWriter, r *http.Request) {
	if s := a.sessions.find(r); a.sessions.end(w, s) {
		if err := a.revoke(r.Context(), s.close()); err != nil {
			log.Print("revocation failed: ", err) // the session has ended anyway; the page explains the rest
			a.show(w, http.StatusBadGateway, nil, view{
				Problem: "You are signed out here, but the hub did not confirm it. Open Connected apps at the hub and disconnect this app there.",
			})
			return
		}
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// revoke revokes a token at the hub (RFC 7009). It continues if the browser disconnects. It does nothing if token is nil.
func (a *app) revoke(ctx context.Context, token *oauth2.Token) error {
	if token == nil {
		return nil
	}
	form := url.Values{"token": {cmp.Or(token.RefreshToken, token.AccessToken)}, "client_id": {a.ClientID}}
	if a.ClientSecret != "" {
		form.Set("client_secret", a.ClientSecret)
	}
	return a.postForm(context.WithoutCancel(ctx), a.revokeURL, form)
}
