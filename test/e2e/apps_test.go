package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// visited is an app's own server: its callback leads on to a page under another name,
// as apps do, which a browser holds to the policy of the form that began it.
func visited(t *testing.T) (callback string, answers <-chan url.Values) {
	t.Helper()
	got := make(chan url.Values, 4)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/cb", func(w http.ResponseWriter, r *http.Request) {
		got <- r.URL.Query()
		http.Redirect(w, r, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"/done", http.StatusSeeOther)
	})
	mux.HandleFunc("/done", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<link rel="icon" href="data:,"><p id="done">Connected.</p>`)
	})
	return server.URL + "/cb", got
}

// app registers an app of this person and gives it as its client library sees it.
func (p *person) app(t testing.TB, callback string, scopes ...string) *oauth2.Config {
	t.Helper()
	registered, _, _ := strings.Cut(callback, "?")
	u, err := url.Parse(registered)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = u.Hostname() // any port of the loopback will do
	id := post(t, p.s.Hub+"/api/dev/apps", p.login(), payload(obj{
		"name": "Tide <script>table()</script>", "type": "public", "redirectUris": []string{u.String()}, "scopes": scopes,
	})).is(http.StatusCreated).str("clientId")
	meta := get(t, p.s.Hub+"/.well-known/oauth-authorization-server/api/protocol/v1").is(http.StatusOK)
	return &oauth2.Config{
		ClientID: id, RedirectURL: callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL: meta.str("authorization_endpoint"), TokenURL: meta.str("token_endpoint"), AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

// TestAppInABrowser: a person signs in on the way, reads what an app asks for, lets it,
// and ends it again; the browser runs with every policy on.
func TestAppInABrowser(t *testing.T) {
	t.Parallel()
	s := up(t)
	callback, answers := visited(t)
	app := s.person(t).app(t, callback, "profile:read", "signal:create", "offline_access")
	verifier := oauth2.GenerateVerifier()
	b := open(t, desktopWidth, desktopHeight)
	b.visit(app.AuthCodeURL("state-1", oauth2.S256ChallengeOption(verifier)), http.StatusOK) // leads to the sign-in
	b.press(`button[value="dave"]`, `form[action$="/dev/session"] button`)
	b.press(`form[action$="/dev/session"] button`, `form.decide`)
	shows(t, b, "main", "Connect Tide <script>table()</script>?", "@dave", "File calls as you", "a program on this device")
	b.fits("the page that asks")
	b.press(`form.decide button[value="approve"]`, `#done`)
	b.clean("the way of an approval")
	got := <-answers
	if got.Get("state") != "state-1" || got.Get("iss") != s.Hub+"/api/protocol/v1" {
		t.Fatalf("the app was told %v", got)
	}
	token, err := app.Exchange(t.Context(), got.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	me := s.Hub + "/api/protocol/v1/me"
	get(t, me, bearer(token.AccessToken)).is(http.StatusOK).has(obj{"username": "dave"})

	b.visit(app.AuthCodeURL("state-2", oauth2.S256ChallengeOption(verifier)), http.StatusOK)
	b.press(`form.decide button[value="deny"]`, `#done`)
	if got := <-answers; got.Get("error") != "access_denied" || got.Get("state") != "state-2" {
		t.Errorf("the app was told %v", got)
	}
	b.visit(s.Hub+"/apps", http.StatusOK)
	shows(t, b, "main", "Tide <script>table()</script>", "File calls as you")
	b.fits("connected apps")
	b.press(`form[action="/apps/revoke"] button`, `.empty-line`)
	b.clean("connected apps")
	get(t, me, bearer(token.AccessToken)).fails(http.StatusUnauthorized, "unauthenticated")
}

// TestAppWithALibrary: the client of golang.org/x/oauth2 redeems, renews by itself,
// and learns that a refresh token was used twice.
func TestAppWithALibrary(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	cookies, _ := p.signIn(t)
	app := p.app(t, "http://127.0.0.1:8421/cb", "profile:read", "offline_access")
	verifier := oauth2.GenerateVerifier()
	page := get(t, app.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)), cookies).is(http.StatusOK)
	_, rest, _ := strings.Cut(string(page.body), `name="request" value="`)
	request, _, _ := strings.Cut(rest, `"`)
	form := url.Values{"request": {request}, "decision": {"approve"}}.Encode()
	done := post(t, app.Endpoint.AuthURL, cookies, with("Origin", s.Hub), formed(form)).is(http.StatusSeeOther)
	to, err := url.Parse(done.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	token, err := app.Exchange(ctx, to.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if token.Type() != "Bearer" || token.RefreshToken == "" || time.Until(token.Expiry) > 15*time.Minute || time.Until(token.Expiry) < 10*time.Minute {
		t.Errorf("%+v", token.Expiry)
	}
	me := s.Hub + "/api/protocol/v1/me"
	stale := *token
	stale.Expiry = time.Now().Add(-time.Minute)
	client := app.Client(ctx, &stale) // renews before it asks
	res, err := client.Get(me)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("%d", res.StatusCode)
	}
	renewed, err := app.TokenSource(ctx, &stale).Token() // the same one again, within the retry window
	if err != nil || renewed.RefreshToken == token.RefreshToken {
		t.Fatalf("%v", err)
	}
	third, err := app.TokenSource(ctx, &oauth2.Token{RefreshToken: renewed.RefreshToken}).Token()
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.TokenSource(ctx, &stale).Token() // its successor was used: somebody else has it
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.ErrorCode != "invalid_grant" {
		t.Errorf("%v", err)
	}
	get(t, me, bearer(third.AccessToken)).fails(http.StatusUnauthorized, "unauthenticated")
}

func formed(form string) option {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(form)), int64(len(form))
	}
}
