package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSealed: what a sign-in began with comes out with its own state, in time, as it was
// sealed by this program, and in no other case.
func TestSealed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b, err := newBegun(true)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newBegun(true)
	if err != nil {
		t.Fatal(err)
	}
	sealed := b.seal("state", "verifier", now.Add(signInWithin))
	if v, ok := b.open(sealed, "state", now); !ok || v != "verifier" {
		t.Fatalf("%q %v", v, ok)
	}
	if strings.Contains(sealed, "verifier") || b.seal("state", "verifier", now.Add(signInWithin)) == sealed {
		t.Error("it can be read, or is the same twice")
	}
	for at := range sealed { // one letter another
		letter := "A"
		if sealed[at] == 'A' {
			letter = "Q"
		}
		if at == len(sealed)-1 {
			break // its last bits may be padding
		}
		if _, ok := b.open(sealed[:at]+letter+sealed[at+1:], "state", now); ok {
			t.Errorf("changed at %d it opens", at)
		}
	}
	for name, open := range map[string]func() (string, bool){
		"another state":   func() (string, bool) { return b.open(sealed, "State", now) },
		"no state":        func() (string, bool) { return b.open(sealed, "", now) },
		"another program": func() (string, bool) { return other.open(sealed, "state", now) },
		"too late":        func() (string, bool) { return b.open(sealed, "state", now.Add(signInWithin+time.Second)) },
		"nothing":         func() (string, bool) { return b.open("", "state", now) },
		"short":           func() (string, bool) { return b.open(sealed[:20], "state", now) },
		"other letters":   func() (string, bool) { return b.open("<>"+sealed, "state", now) },
		"huge":            func() (string, bool) { return b.open(strings.Repeat(sealed, 1000), "state", now) },
	} {
		if _, ok := open(); ok {
			t.Errorf("%s: it opens", name)
		}
	}
}

// TestCookies: over https they are for this host and for encrypted connections alone.
func TestCookies(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := sit(t, h, func(s *settings) { s.Base = "https://app.example" })
	c := d.gets(http.StatusSeeOther, "", "/signin", nil).Cookies()[0]
	if c.Name != "__Host-signin" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 600 {
		t.Errorf("%+v", c)
	}
	if name := d.app.sessions.cookies.name; name != "__Host-session" {
		t.Error(name)
	}
	d = sit(t, h)
	if c := d.gets(http.StatusSeeOther, "", "/signin", nil).Cookies()[0]; c.Name != "signin" || c.Secure || !c.HttpOnly {
		t.Errorf("%+v", c)
	}
}

// TestAnswersThatAreErrors: each known code has its sentence, everything else the same one,
// and nothing of the address is on the page. Whoever is signed in stays so.
func TestAnswersThatAreErrors(t *testing.T) {
	t.Parallel()
	d := sit(t, newHub(t))
	d.signIn()
	for code, p := range byAnswer {
		d.gets(p.status, p.words, d.answer(d.begin(), url.Values{"error": {code}}), nil)
	}
	for _, code := range []string{"", "invalid_grant", "unauthenticated", "market_closed", "already_predicted", "Call 0900 123 now", "<b>x</b>", strings.Repeat("x", 5000), "access_denied "} {
		path := d.answer(d.begin(), url.Values{"error": {code}, "error_description": {"strange words"}, "error_uri": {"https://evil.example/"}})
		d.gets(http.StatusBadGateway, "The hub did not sign you in. Please try again.", path, nil)
		for _, word := range []string{code, "strange words", "evil.example"} {
			if word != "" && strings.Contains(d.page, word) {
				t.Errorf("%.40q is on the page:\n%s", word, d.page)
			}
		}
	}
	d.gets(http.StatusOK, "@who_1", "/", nil)
}

// TestSecondSignIn: the earlier session of the browser is replaced, and its permission
// given back; that of another browser stays.
func TestSecondSignIn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := sit(t, h)
	other := d.other()
	other.signIn() // dat_1
	d.signIn()     // dat_2
	old := d.agent.Jar.Cookies(mustParse(t, d.url))
	d.signIn() // dat_3
	d.gets(http.StatusOK, "@who_3", "/", nil)
	other.gets(http.StatusOK, "@who_1", "/", nil)
	if got := h.ended(); !slices.Equal(got, []string{"drt_2"}) {
		t.Errorf("given back: %q", got)
	}
	if n := d.kept(); n != 2 {
		t.Errorf("%d sessions are kept", n)
	}
	thief := d.other()
	thief.agent.Jar.SetCookies(mustParse(t, d.url), old)
	thief.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	h.on("/revoke", cut) // a hub that is away keeps nobody out
	d.signIn()
	d.gets(http.StatusOK, "@who_4", "/", nil)
}

// TestRoom: when there is no room the oldest goes, with its permission; who came later stays.
func TestRoom(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	first := sit(t, h)
	first.app.sessions.most = 2
	second, third := first.other(), first.other()
	first.signIn()
	second.signIn()
	third.signIn()
	first.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	second.gets(http.StatusOK, "@who_2", "/", nil)
	third.gets(http.StatusOK, "@who_3", "/", nil)
	if got := h.ended(); !slices.Equal(got, []string{"drt_1"}) || first.kept() != 2 {
		t.Errorf("given back: %q, kept: %d", got, first.kept())
	}
	second.signIn() // in its own place: nobody has to go
	third.gets(http.StatusOK, "@who_3", "/", nil)
}

// TestSessionsEnd: by their time, whatever the browser keeps.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	d := sit(t, newHub(t))
	d.signIn()
	d.app.sessions.mu.Lock()
	for _, s := range d.app.sessions.all {
		s.expires = time.Now()
	}
	d.app.sessions.mu.Unlock()
	d.gets(http.StatusUnauthorized, "Please sign in first.", "/call", url.Values{"market": {"1"}, "side": {"YES"}})
	if n := d.kept(); n != 0 {
		t.Errorf("%d sessions are kept", n)
	}
}

// TestManyBegin: ten thousand sign-ins that nobody ends keep nobody out and fill nothing.
func TestManyBegin(t *testing.T) {
	t.Parallel()
	d := sit(t, newHub(t))
	for range 10_100 {
		w := httptest.NewRecorder()
		d.app.routes().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/signin", nil))
		if w.Code != http.StatusSeeOther {
			t.Fatalf("%d\n%s", w.Code, w.Body)
		}
	}
	if n := d.kept(); n != 0 {
		t.Errorf("%d sessions of nobody", n)
	}
	d.signIn()
	d.gets(http.StatusOK, "@who_1", "/", nil)
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
