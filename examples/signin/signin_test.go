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
	b, other := newBegun(true), newBegun(true)
	seal := func() string {
		sealed, err := b.box.Encode("state", "verifier")
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	open := func(b *begun, sealed, state string) (verifier string, ok bool) {
		err := b.box.Decode(state, sealed, &verifier)
		return verifier, err == nil
	}
	sealed := seal()
	if v, ok := open(b, sealed, "state"); !ok || v != "verifier" {
		t.Fatalf("%q %v", v, ok)
	}
	if strings.Contains(sealed, "verifier") || seal() == sealed {
		t.Error("it can be read, or is the same twice")
	}
	letters := len(strings.TrimRight(sealed, "="))
	for at := range letters - 1 { // one letter another; the last bits of the last letter may be padding
		letter := "A"
		if sealed[at] == 'A' {
			letter = "Q"
		}
		if _, ok := open(b, sealed[:at]+letter+sealed[at+1:], "state"); ok {
			t.Errorf("changed at %d it opens", at)
		}
	}
	for name, c := range map[string]struct {
		by            *begun
		sealed, state string
	}{
		"another state":   {b, sealed, "State"},
		"no state":        {b, sealed, ""},
		"another program": {other, sealed, "state"},
		"nothing":         {b, "", "state"},
		"short":           {b, sealed[:20], "state"},
		"other letters":   {b, "<>" + sealed, "state"},
		"huge":            {b, strings.Repeat(sealed, 1000), "state"},
	} {
		if _, ok := open(c.by, c.sealed, c.state); ok {
			t.Errorf("%s: it opens", name)
		}
	}
	b.box.MaxAge(-1) // what was sealed now is too old
	if _, ok := open(b, sealed, "state"); ok {
		t.Error("too late: it opens")
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

// TestAnswersOfOtherSignIns: an answer is accepted once, in the browser that has begun the sign-in, from the hub that was asked.
func TestAnswersOfOtherSignIns(t *testing.T) {
	t.Parallel()
	d := sit(t, newHub(t))
	other := d.other()
	const refusal = "does not belong to a sign-in that was begun in this browser"
	d.gets(http.StatusBadRequest, refusal, "/callback?code=c&state=y&iss="+url.QueryEscape(d.app.issuer), nil)
	state := d.begin()
	answer := d.answer(state, url.Values{"code": {"c"}})
	other.gets(http.StatusBadRequest, refusal, answer, nil)
	other.begin()
	other.gets(http.StatusBadRequest, refusal, answer, nil)
	d.gets(http.StatusBadRequest, refusal, d.answer(state, url.Values{"code": {"c"}, "iss": {"https://evil.example"}}), nil)
	d.gets(http.StatusBadRequest, refusal, d.answer(state, url.Values{"code": {"c"}, "iss": nil}), nil)
	res := d.gets(http.StatusSeeOther, "", answer, nil)
	sessions := slices.DeleteFunc(res.Cookies(), func(c *http.Cookie) bool { return c.Value == "" })
	if len(sessions) != 1 || !sessions[0].HttpOnly || sessions[0].SameSite != http.SameSiteLaxMode ||
		len(sessions[0].Value) != 26 {
		t.Errorf("cookies %v; want one with 26 characters, HttpOnly and SameSite=Lax", sessions)
	}
	d.gets(http.StatusBadRequest, refusal, answer, nil)
	d.begin() // a second sign-in that is not finished does not end the session
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

// TestForms: a form of another site is refused, and a call that cannot be filed is explained.
func TestForms(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	d := sit(t, h)
	d.signIn()
	for _, from := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
	} {
		d.gets(http.StatusForbidden, "", "/call", oneCall, from...)
		d.gets(http.StatusForbidden, "", "/signout", url.Values{}, from...)
	}
	d.gets(http.StatusBadRequest, "from 0 to 100", "/call",
		url.Values{"market": {"1"}, "side": {"YES"}, "price": {"NaN"}, "take": {`"><script>x()</script>`}})
	h.on("/api/signals/../../me", with(http.StatusNotFound, `{"error":"not_found"}`))
	d.gets(http.StatusNotFound, "There is no such call.", "/receipt/..%2f..%2fme", nil)
	for code, words := range map[string]string{
		"market_not_found": "There is no such market.", "invalid_request": "The hub cannot read this call.",
		"market_closed": "This market takes no calls any more.",
	} {
		h.on("/api/protocol/v1/signals", with(byCode[code].status, `{"error":"`+code+`"}`))
		d.gets(byCode[code].status, words, "/call", oneCall)
	}
	h.on("/api/protocol/v1/signals", with(http.StatusConflict, `{"error":"already_predicted","id":"the-call"}`))
	d.gets(http.StatusConflict, "/receipt/the-call", "/call", oneCall)
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
