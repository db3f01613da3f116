package main

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// logged is what the app logs while the tests run.
type logged struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

// TestMain looks for tokens in all that was logged.
func TestMain(m *testing.M) {
	l := &logged{}
	log.SetOutput(l)
	code := m.Run()
	if found := secret.FindString(l.all.String()); found != "" || l.all.Len() == 0 {
		fmt.Fprintf(os.Stderr, "a token is logged, or nothing at all: %q\n%s", found, &l.all)
		code = 1
	}
	os.Exit(code)
}

var oneCall = url.Values{"market": {"1"}, "side": {"YES"}, "price": {"61"}, "key": {"k"}}

// aways are hubs that are not there, each in its way, and what is said of them.
var aways = map[string]struct {
	say   http.HandlerFunc
	words string
}{
	"cut":         {cut, "The hub cannot be reached."},
	"no JSON":     {with(http.StatusOK, "<html>dat_1"), "The hub cannot be reached."},
	"a proxy":     {with(http.StatusBadGateway, "<html>Bad Gateway drt_1"), "A part of the hub is away."},
	"its own 503": {with(http.StatusServiceUnavailable, `{"error":"db_unavailable","message":"dat_1"}`), "A part of the hub is away."},
	"its own 500": {with(http.StatusInternalServerError, `{"error":"internal"}`), "A part of the hub is away."},
}

// TestHubAway: at each step there is a page that says it, whoever is signed in stays so,
// and the same step works when the hub is back.
func TestHubAway(t *testing.T) {
	t.Parallel()
	for name, away := range aways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			d := sit(t, h)
			for _, path := range []string{"/token", "/api/protocol/v1/me"} {
				h.on(path, away.say)
				d.gets(http.StatusBadGateway, away.words, d.answer(d.begin(), url.Values{"code": {"c"}}), nil)
				if !strings.Contains(d.page, "Sign in with Signalcast") || d.kept() != 0 {
					t.Errorf("somebody is signed in:\n%s", d.page)
				}
				h.on(path, nil)
			}
			if got := h.ended(); !slices.Equal(got, []string{"drt_1"}) {
				t.Errorf("tokens of nobody: %q are given back", got)
			}
			d.signIn()
			for path, visit := range map[string]func(status int, words string){
				"/api/protocol/v1/signals": func(status int, words string) { d.gets(status, words, "/call", oneCall) },
				"/api/signals/the-call":    func(status int, words string) { d.gets(max(status, 200), words, "/receipt/the-call", nil) },
			} {
				h.on(path, away.say)
				visit(http.StatusBadGateway, away.words)
				if !strings.Contains(d.page, "@who_2") {
					t.Errorf("nobody is signed in any more:\n%s", d.page)
				}
				h.on(path, nil)
			}
			d.gets(http.StatusSeeOther, "", "/call", oneCall)
			d.gets(http.StatusOK, "at 61 cents", "/receipt/the-call", nil)

			d.app.RenewEarly = time.Hour // the token has run out, so to say
			h.on("/token", away.say)
			d.gets(http.StatusBadGateway, away.words, "/call", oneCall)
			h.on("/token", nil)
			d.gets(http.StatusSeeOther, "", "/call", oneCall)

			h.on("/revoke", away.say)
			status, words := http.StatusBadGateway, "the hub could not be told"
			if name == "no JSON" { // nobody reads what is said there
				status, words = http.StatusSeeOther, ""
			}
			d.gets(status, words, "/signout", url.Values{})
			d.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
		})
	}
}

// TestSilentHub: a hub that says nothing is a page, too, before the browser gives up.
func TestSilentHub(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := sit(t, h)
	h.on("/api/signals/the-call", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	d.gets(http.StatusBadGateway, "The hub cannot be reached.", "/receipt/the-call", nil)
}

// TestTokenIsRefused: an access token that the hub does not take is renewed once, and the
// call is filed; a renewal whose answer is lost is asked again.
func TestTokenIsRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := sit(t, h)
	d.signIn()
	h.on("/api/protocol/v1/signals", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer dat_2" || r.Header.Get("Idempotency-Key") != "k" {
			with(http.StatusUnauthorized, `{"error":"unauthenticated"}`)(w, r)
			return
		}
		with(http.StatusOK, `{"id":"the-call"}`)(w, r)
	})
	d.gets(http.StatusSeeOther, "", "/call", oneCall)
	d.gets(http.StatusSeeOther, "", "/call", oneCall)
	if n := h.renewals(); n != 1 {
		t.Errorf("renewed %d times", n)
	}
	h.on("/api/protocol/v1/signals", with(http.StatusUnauthorized, `{"error":"unauthenticated"}`))
	d.gets(http.StatusUnauthorized, "Your permission has ended. Please sign in again.", "/call", oneCall)
	if n := h.renewals(); n != 2 || d.kept() != 0 {
		t.Errorf("renewed %d times, %d sessions", n, d.kept())
	}

	h.on("/api/protocol/v1/signals", nil)
	d.signIn()
	d.app.RenewEarly = time.Hour
	var once sync.Once
	h.on("/token", func(w http.ResponseWriter, r *http.Request) {
		lost := false
		once.Do(func() { lost = true })
		if lost {
			cut(w, r)
		}
		with(http.StatusOK, `{"access_token":"dat_9","refresh_token":"drt_9","expires_in":900,"token_type":"Bearer"}`)(w, r)
	})
	d.gets(http.StatusSeeOther, "", "/call", oneCall)
}

// TestRenewalIsRefused: the person is told and signed out; so is one without a refresh token.
func TestRenewalIsRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := sit(t, h, func(s *settings) { s.RenewEarly = time.Hour })
	d.signIn()
	h.on("/token", with(http.StatusTooManyRequests, `{"error":"rate_limited"}`))
	d.gets(http.StatusTooManyRequests, "Too many requests.", "/call", oneCall)
	h.on("/token", with(http.StatusUnauthorized, `{"error":"invalid_client"}`))
	d.gets(http.StatusBadGateway, "The hub said no to this app.", "/call", oneCall)
	h.on("/token", with(http.StatusBadRequest, `{"error":"invalid_grant","error_description":"drt_1 is spent"}`))
	d.gets(http.StatusUnauthorized, "Your permission has ended. Please sign in again.", "/call", oneCall)
	if !strings.Contains(d.page, "Sign in with Signalcast") || d.kept() != 0 {
		t.Errorf("somebody is signed in:\n%s", d.page)
	}
	d.gets(http.StatusBadRequest, "This sign-in took too long", d.answer(d.begin(), url.Values{"code": {"old"}}), nil)

	h.on("/token", with(http.StatusOK, `{"access_token":"dat_9","expires_in":900,"token_type":"Bearer"}`))
	d.signIn()
	d.gets(http.StatusUnauthorized, "Your permission has ended. Please sign in again.", "/call", oneCall)
}
