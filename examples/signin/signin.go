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
	errNotOurs = errors.New("the answer belongs to no sign-in of this browser")
	errStale   = errors.New("the code of the answer is not good any more")
	errNobody  = errors.New("nobody is signed in")
	errEnded   = errors.New("the permission cannot be renewed")
)

// begin sends the browser to the page where the person decides. It is a link and no form:
// it changes nothing here, and the policy of forms would have to name every host on the way.
func (a *app) begin(w http.ResponseWriter, r *http.Request) {
	state, verifier, err := a.begun.start(w)
	if err != nil {
		a.tell(w, nil, explain(err), nil)
		return
	}
	http.Redirect(w, r, a.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
}

// callback is where the browser comes back with an answer. It is taken only from the hub
// that was asked (iss, RFC 9207), only in the browser that asked (state), and only once.
// Whoever is signed in stays so until somebody else is.
func (a *app) callback(w http.ResponseWriter, r *http.Request) {
	q, before := r.URL.Query(), a.sessions.of(r)
	verifier, ours := "", false
	if q.Get("iss") == a.issuer {
		verifier, ours = a.begun.take(w, r, q.Get("state"))
	}
	switch {
	case !ours:
		a.tell(w, before, ourOwn[errNotOurs], nil)
		return
	case q.Has("error"):
		a.tell(w, before, explainAnswer(q.Get("error")), nil)
		return
	}
	user, token, err := a.exchange(r.Context(), q.Get("code"), verifier)
	if err != nil {
		a.tell(w, before, explain(err), nil)
		return
	}
	a.sessions.forget(before)
	for _, s := range []*session{before, a.sessions.start(w, user, token)} { // each had a permission of its own
		if s == nil {
			continue
		}
		if err := a.giveBack(r.Context(), s.close()); err != nil {
			log.Print("revoke an earlier session: ", err)
		}
	}
	http.Redirect(w, r, "/", http.StatusSeeOther) // and the code is out of the address bar
}

// exchange changes the code for tokens and asks whose they are. Tokens of nobody knows
// whom are given back.
func (a *app) exchange(ctx context.Context, code, verifier string) (user string, token *oauth2.Token, err error) {
	token, err = a.oauth.Exchange(withClient(ctx), code, oauth2.VerifierOption(verifier))
	if no := (*oauth2.RetrieveError)(nil); errors.As(err, &no) && no.ErrorCode == "invalid_grant" {
		return "", nil, errStale
	}
	if err != nil {
		return "", nil, err
	}
	var me struct {
		Username string `json:"username"`
		DenpaID  string `json:"denpaId"`
	}
	if err = a.ask(ctx, http.MethodGet, "/api/protocol/v1/me", request{bearer: token.AccessToken}, &me); err != nil {
		if err := a.giveBack(ctx, token); err != nil {
			log.Print("revoke what nobody uses: ", err)
		}
		return "", nil, err
	}
	return cmp.Or(me.Username, me.DenpaID), token, nil
}

// signOut gives the permission back and then forgets it. Revoking the refresh token ends
// the whole grant, so whoever has a copy of the tokens has nothing.
func (a *app) signOut(w http.ResponseWriter, r *http.Request) {
	if s := a.sessions.of(r); a.sessions.end(w, s) {
		if err := a.giveBack(r.Context(), s.close()); err != nil {
			log.Print("revoke: ", err) // the person is signed out here all the same, and is told
			a.show(w, http.StatusBadGateway, nil, view{Problem: "You are signed out here, but the hub could not be told. Open Connected apps at the hub and end the connection there."})
			return
		}
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// giveBack ends a permission at the hub (RFC 7009), also when the browser has left.
func (a *app) giveBack(ctx context.Context, token *oauth2.Token) error {
	if token == nil {
		return nil
	}
	form := url.Values{"token": {cmp.Or(token.RefreshToken, token.AccessToken)}, "client_id": {a.ClientID}}
	if a.ClientSecret != "" {
		form.Set("client_secret", a.ClientSecret)
	}
	return a.send(context.WithoutCancel(ctx), a.revoke, form)
}
