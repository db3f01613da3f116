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

// logBuffer collects the log of the app while the tests run.
type logBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

// TestMain runs the tests and fails if the log of the app contains a token or is empty.
func TestMain(m *testing.M) {
	l := &logBuffer{}
	log.SetOutput(l)
	code := m.Run()
	if found := secret.FindString(l.all.String()); found != "" || l.all.Len() == 0 {
		fmt.Fprintf(os.Stderr, "the log contains a token or is empty: %q\n%s", found, &l.all)
		code = 1
	}
	os.Exit(code)
}

// callForm is the form of a valid call.
var callForm = url.Values{"market": {"1"}, "side": {"YES"}, "price": {"61"}, "key": {"k"}}

// outages contains kinds of outages of the hub, and the text that the page shows for them.
var outages = map[string]struct {
	handler http.HandlerFunc
	text    string
}{
	"cut":         {cut, "The hub cannot be reached."},
	"no JSON":     {with(http.StatusOK, "<html>dat_1"), "The hub cannot be reached."},
	"a proxy":     {with(http.StatusBadGateway, "<html>Bad Gateway drt_1"), "A part of the hub is unavailable."},
	"its own 503": {with(http.StatusServiceUnavailable, `{"error":"db_unavailable","message":"dat_1"}`), "A part of the hub is unavailable."},
	"its own 500": {with(http.StatusInternalServerError, `{"error":"internal"}`), "A part of the hub is unavailable."},
}

// TestHubUnavailable checks each step of the app during an outage of the hub: the page shows the problem, the session does not
// end, and the step works after the outage.
func TestHubUnavailable(t *testing.T) {
	t.Parallel()
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			d := newBrowser(t, h)
			for _, path := range []string{"/token", "/api/protocol/v1/me"} {
				h.on(path, outage.handler)
				d.gets(http.StatusBadGateway, outage.text, d.answer(d.begin(), url.Values{"code": {"c"}}), nil)
				if !strings.Contains(d.page, "Sign in with Signalcast") || d.sessionCount() != 0 {
					t.Errorf("a session exists after a failed sign-in:\n%s", d.page)
				}
				h.on(path, nil)
			}
			if got := h.revokedTokens(); !slices.Equal(got, []string{"drt_1"}) {
				t.Errorf("revoked tokens %q; want drt_1 of the failed sign-in", got)
			}
			d.signIn()
			for path, visit := range map[string]func(status int, text string){
				"/api/protocol/v1/signals": func(status int, text string) { d.gets(status, text, "/call", callForm) },
				"/api/signals/the-call":    func(status int, text string) { d.gets(max(status, 200), text, "/receipt/the-call", nil) },
			} {
				h.on(path, outage.handler)
				visit(http.StatusBadGateway, outage.text)
				if !strings.Contains(d.page, "@who_2") {
					t.Errorf("the session has ended:\n%s", d.page)
				}
				h.on(path, nil)
			}
			d.gets(http.StatusSeeOther, "", "/call", callForm)
			d.gets(http.StatusOK, "at 61 cents", "/receipt/the-call", nil)

			d.app.RenewEarly = time.Hour // the token must be renewed
			h.on("/token", outage.handler)
			d.gets(http.StatusBadGateway, outage.text, "/call", callForm)
			h.on("/token", nil)
			d.gets(http.StatusSeeOther, "", "/call", callForm)

			h.on("/revoke", outage.handler)
			status, text := http.StatusBadGateway, "the hub did not confirm it"
			if name == "no JSON" { // the app ignores the body of this answer
				status, text = http.StatusSeeOther, ""
			}
			d.gets(status, text, "/signout", url.Values{})
			d.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
		})
	}
}

// TestSilentHub checks that the page shows the problem if the hub does not answer within the timeout.
func TestSilentHub(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := newBrowser(t, h)
	h.on("/api/signals/the-call", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	d.gets(http.StatusBadGateway, "The hub cannot be reached.", "/receipt/the-call", nil)
}

// TestTokenRejected checks that a rejected access token is renewed once and the call is filed, and that a renewal without an
// answer is repeated.
func TestTokenRejected(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := newBrowser(t, h)
	d.signIn()
	h.on("/api/protocol/v1/signals", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer dat_2" || r.Header.Get("Idempotency-Key") != "k" {
			with(http.StatusUnauthorized, `{"error":"unauthenticated"}`)(w, r)
			return
		}
		with(http.StatusOK, `{"id":"the-call"}`)(w, r)
	})
	d.gets(http.StatusSeeOther, "", "/call", callForm)
	d.gets(http.StatusSeeOther, "", "/call", callForm)
	if n := h.renewals(); n != 1 {
		t.Errorf("renewed %d times", n)
	}
	h.on("/api/protocol/v1/signals", with(http.StatusUnauthorized, `{"error":"unauthenticated"}`))
	d.gets(http.StatusUnauthorized, "Your permission has ended. Please sign in again.", "/call", callForm)
	if n := h.renewals(); n != 2 || d.sessionCount() != 0 {
		t.Errorf("renewed %d times, %d sessions", n, d.sessionCount())
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
	d.gets(http.StatusSeeOther, "", "/call", callForm)
}

// TestRenewalRejected checks that a person is signed out if the grant has ended or the session has no refresh token, and is not
// signed out after other errors.
func TestRenewalRejected(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := newBrowser(t, h, func(s *settings) { s.RenewEarly = time.Hour })
	d.signIn()
	h.on("/token", with(http.StatusTooManyRequests, `{"error":"rate_limited"}`))
	d.gets(http.StatusTooManyRequests, "Too many requests.", "/call", callForm)
	h.on("/token", with(http.StatusUnauthorized, `{"error":"invalid_client"}`))
	d.gets(http.StatusBadGateway, "The hub rejected the request of this app.", "/call", callForm)
	h.on("/token", with(http.StatusBadRequest, `{"error":"invalid_grant","error_description":"drt_1 is spent"}`))
	d.gets(http.StatusUnauthorized, "Your permission has ended. Please sign in again.", "/call", callForm)
	if !strings.Contains(d.page, "Sign in with Signalcast") || d.sessionCount() != 0 {
		t.Errorf("the session still exists:\n%s", d.page)
	}
	d.gets(http.StatusBadRequest, "This sign-in took too long", d.answer(d.begin(), url.Values{"code": {"old"}}), nil)

	h.on("/token", with(http.StatusOK, `{"access_token":"dat_9","expires_in":900,"token_type":"Bearer"}`))
	d.signIn()
	d.gets(http.StatusUnauthorized, "Your permission has ended. Please sign in again.", "/call", callForm)
}
