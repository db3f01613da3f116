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

// TestPendingCookie checks that the cookie of a pending sign-in can be decrypted only with the same state, by the same process,
// within the time limit, and without changes.
func TestPendingCookie(t *testing.T) {
	t.Parallel()
	b, other := newPendingSignIns(true), newPendingSignIns(true)
	seal := func() string {
		sealed, err := b.box.Encode("state", "verifier")
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	open := func(b *pendingSignIns, sealed, state string) (verifier string, ok bool) {
		err := b.box.Decode(state, sealed, &verifier)
		return verifier, err == nil
	}
	sealed := seal()
	if v, ok := open(b, sealed, "state"); !ok || v != "verifier" {
		t.Fatalf("%q %v", v, ok)
	}
	if strings.Contains(sealed, "verifier") || seal() == sealed {
		t.Error("the cookie contains the verifier in plain text, or is not random")
	}
	letters := len(strings.TrimRight(sealed, "="))
	for at := range letters - 1 { // change one character; the last bits of the last character may be padding
		letter := "A"
		if sealed[at] == 'A' {
			letter = "Q"
		}
		if _, ok := open(b, sealed[:at]+letter+sealed[at+1:], "state"); ok {
			t.Errorf("a cookie with another character %d was decrypted", at)
		}
	}
	for name, c := range map[string]struct {
		by            *pendingSignIns
		sealed, state string
	}{
		"another state":      {b, sealed, "State"},
		"no state":           {b, sealed, ""},
		"another process":    {other, sealed, "state"},
		"empty":              {b, "", "state"},
		"short":              {b, sealed[:20], "state"},
		"invalid characters": {b, "<>" + sealed, "state"},
		"huge":               {b, strings.Repeat(sealed, 1000), "state"},
	} {
		if _, ok := open(c.by, c.sealed, c.state); ok {
			t.Errorf("%s: the cookie was decrypted; want an error", name)
		}
	}
	b.box.MaxAge(-1) // every cookie is now too old
	if _, ok := open(b, sealed, "state"); ok {
		t.Error("an expired cookie was decrypted; want an error")
	}
}

// TestCookies checks the attributes of the cookies of an app with an https URL: browsers send them only to the host of the app,
// and only over encrypted connections.
func TestCookies(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := newBrowser(t, h, func(s *settings) { s.Base = "https://app.example" })
	c := d.gets(http.StatusSeeOther, "", "/signin", nil).Cookies()[0]
	if c.Name != "__Host-signin" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 600 {
		t.Errorf("%+v", c)
	}
	if name := d.app.sessions.cookies.name; name != "__Host-session" {
		t.Error(name)
	}
	d = newBrowser(t, h)
	if c := d.gets(http.StatusSeeOther, "", "/signin", nil).Cookies()[0]; c.Name != "signin" || c.Secure || !c.HttpOnly {
		t.Errorf("%+v", c)
	}
}

// TestErrorAnswers checks the texts for error answers to a sign-in: one text for each known code, and one for all other codes.
// The page must not contain text of the URL, and the session must not end.
func TestErrorAnswers(t *testing.T) {
	t.Parallel()
	d := newBrowser(t, newHub(t))
	d.signIn()
	for code, p := range problemsByAnswer {
		d.gets(p.status, p.text, d.answer(d.begin(), url.Values{"error": {code}}), nil)
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

// TestAnswersOfOtherSignIns checks that an answer is accepted only once, only in the browser that started the sign-in, and only
// from the expected hub.
func TestAnswersOfOtherSignIns(t *testing.T) {
	t.Parallel()
	d := newBrowser(t, newHub(t))
	other := d.other()
	const rejected = "does not belong to a sign-in of this browser"
	d.gets(http.StatusBadRequest, rejected, "/callback?code=c&state=y&iss="+url.QueryEscape(d.app.issuer), nil)
	state := d.begin()
	answer := d.answer(state, url.Values{"code": {"c"}})
	other.gets(http.StatusBadRequest, rejected, answer, nil)
	other.begin()
	other.gets(http.StatusBadRequest, rejected, answer, nil)
	d.gets(http.StatusBadRequest, rejected, d.answer(state, url.Values{"code": {"c"}, "iss": {"https://evil.example"}}), nil)
	d.gets(http.StatusBadRequest, rejected, d.answer(state, url.Values{"code": {"c"}, "iss": nil}), nil)
	res := d.gets(http.StatusSeeOther, "", answer, nil)
	sessions := slices.DeleteFunc(res.Cookies(), func(c *http.Cookie) bool { return c.Value == "" })
	if len(sessions) != 1 || !sessions[0].HttpOnly || sessions[0].SameSite != http.SameSiteLaxMode ||
		len(sessions[0].Value) != 26 {
		t.Errorf("cookies %v; want one with 26 characters, HttpOnly and SameSite=Lax", sessions)
	}
	d.gets(http.StatusBadRequest, rejected, answer, nil)
	d.begin() // a second, incomplete sign-in does not end the session
	res = d.gets(http.StatusOK, "@who_1", "/", nil)
	for name, part := range map[string]string{
		"Content-Security-Policy": "frame-ancestors 'none'", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff",
	} {
		if !strings.Contains(res.Header.Get(name), part) {
			t.Errorf("header %s is %q, want %q in it", name, res.Header.Get(name), part)
		}
	}
}

// TestForms checks that forms of other sites are rejected and that the page explains why a call cannot be filed.
func TestForms(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := newBrowser(t, h)
	d.signIn()
	for _, from := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
	} {
		d.gets(http.StatusForbidden, "", "/call", callForm, from...)
		d.gets(http.StatusForbidden, "", "/signout", url.Values{}, from...)
	}
	d.gets(http.StatusBadRequest, "from 0 to 100", "/call",
		url.Values{"market": {"1"}, "side": {"YES"}, "price": {"NaN"}, "take": {`"><script>x()</script>`}})
	h.on("/api/signals/../../me", with(http.StatusNotFound, `{"error":"not_found"}`))
	d.gets(http.StatusNotFound, "There is no call with this id.", "/receipt/..%2f..%2fme", nil)
	for code, text := range map[string]string{
		"market_not_found": "There is no market with this id.", "invalid_request": "This call is invalid.",
		"market_closed": "This market no longer accepts calls.",
	} {
		h.on("/api/protocol/v1/signals", with(problemsByCode[code].status, `{"error":"`+code+`"}`))
		d.gets(problemsByCode[code].status, text, "/call", callForm)
	}
	h.on("/api/protocol/v1/signals", with(http.StatusConflict, `{"error":"already_predicted","id":"the-call"}`))
	d.gets(http.StatusConflict, "/receipt/the-call", "/call", callForm)
}

// TestSecondSignIn checks that a second sign-in in the same browser replaces the session and revokes its grant, and that the
// session of another browser does not end.
func TestSecondSignIn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := newBrowser(t, h)
	other := d.other()
	other.signIn() // dat_1
	d.signIn()     // dat_2
	old := d.agent.Jar.Cookies(mustParse(t, d.url))
	d.signIn() // dat_3
	d.gets(http.StatusOK, "@who_3", "/", nil)
	other.gets(http.StatusOK, "@who_1", "/", nil)
	if got := h.revokedTokens(); !slices.Equal(got, []string{"drt_2"}) {
		t.Errorf("revoked tokens %q; want drt_2", got)
	}
	if n := d.sessionCount(); n != 2 {
		t.Errorf("%d sessions; want 2", n)
	}
	attacker := d.other()
	attacker.agent.Jar.SetCookies(mustParse(t, d.url), old)
	attacker.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	h.on("/revoke", cut) // a failed revocation does not prevent the sign-in
	d.signIn()
	d.gets(http.StatusOK, "@who_4", "/", nil)
}

// TestMaxSessions checks that, at the maximum number of sessions, a new session replaces the oldest one and the grant of the
// oldest one is revoked.
func TestMaxSessions(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	first := newBrowser(t, h)
	first.app.sessions.max = 2
	second, third := first.other(), first.other()
	first.signIn()
	second.signIn()
	third.signIn()
	first.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	second.gets(http.StatusOK, "@who_2", "/", nil)
	third.gets(http.StatusOK, "@who_3", "/", nil)
	if got := h.revokedTokens(); !slices.Equal(got, []string{"drt_1"}) || first.sessionCount() != 2 {
		t.Errorf("revoked tokens %q, %d sessions; want drt_1 and 2", got, first.sessionCount())
	}
	second.signIn() // replaces the session of the same browser
	third.gets(http.StatusOK, "@who_3", "/", nil)
}

// TestSessionsExpire checks that an expired session is rejected although the browser still sends its cookie.
func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	d := newBrowser(t, newHub(t))
	d.signIn()
	d.app.sessions.mu.Lock()
	for _, s := range d.app.sessions.all {
		s.expires = time.Now()
	}
	d.app.sessions.mu.Unlock()
	d.gets(http.StatusUnauthorized, "Please sign in first.", "/call", url.Values{"market": {"1"}, "side": {"YES"}})
	if n := d.sessionCount(); n != 0 {
		t.Errorf("%d sessions; want 0", n)
	}
}

// TestManyPendingSignIns checks that many incomplete sign-ins create no sessions and do not prevent a sign-in.
func TestManyPendingSignIns(t *testing.T) {
	t.Parallel()
	d := newBrowser(t, newHub(t))
	for range 10_100 {
		w := httptest.NewRecorder()
		d.app.routes().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/signin", nil))
		if w.Code != http.StatusSeeOther {
			t.Fatalf("%d\n%s", w.Code, w.Body)
		}
	}
	if n := d.sessionCount(); n != 0 {
		t.Errorf("%d sessions without a completed sign-in; want 0", n)
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
