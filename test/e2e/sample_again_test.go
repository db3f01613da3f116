package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestSampleSignsInAgain: who signs in a second time has one session and one permission:
// what was given before is over at the hub, and the newest is not.
func TestSampleSignsInAgain(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	cookies, _ := p.signIn(t)
	hub := standBetween(t, s.Hub)
	app := runSample(t, "HUB_URL="+hub.url, "CLIENT_ID="+p.sampleApp(t))
	v := app.visitor(t)
	me := s.Hub + "/api/protocol/v1/me"
	enter := func() (session []*http.Cookie, token string) {
		t.Helper()
		v.gets(http.StatusSeeOther, "", "/callback?"+v.consent(s, cookies, "approve", hub.url+"/api/protocol/v1"), nil)
		tokens := hub.seen("dat_")
		return v.http.Jar.Cookies(mustURL(t, app.url)), tokens[len(tokens)-1]
	}
	old, first := enter()
	get(t, me, bearer(first)).is(http.StatusOK)
	_, second := enter()
	get(t, me, bearer(first)).fails(http.StatusUnauthorized, "unauthenticated")
	get(t, me, bearer(second)).is(http.StatusOK)
	copied := app.visitor(t)
	copied.http.Jar.SetCookies(mustURL(t, app.url), old)
	copied.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	v.gets(http.StatusSeeOther, "", "/call", url.Values{"market": {s.native(t, 5000)}, "side": {"YES"}, "price": {"61"}})

	// An answer that says no leaves the session as it is, and an address that somebody has
	// written shows none of its words.
	no, err := url.ParseQuery(v.consent(s, cookies, "deny", hub.url+"/api/protocol/v1"))
	if err != nil {
		t.Fatal(err)
	}
	no.Set("error", "Call 0900 123 now")
	res, page := v.ask("/callback?"+no.Encode(), nil)
	if res.StatusCode != http.StatusBadGateway || strings.Contains(page, "0900") || strings.Contains(page, "the user said no") || !strings.Contains(page, "@"+p.user) {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
}

// TestSampleWithoutItsHub: an access token that the hub takes no more is renewed, and a hub
// that is away is a page at every step; all goes on when it is back.
func TestSampleWithoutItsHub(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	cookies, _ := p.signIn(t)
	hub := standBetween(t, s.Hub)
	client := p.sampleApp(t)
	app := runSample(t, "HUB_URL="+hub.url, "CLIENT_ID="+client)
	v := app.visitor(t)
	const away = "The hub cannot be reached. Nothing is lost; try again shortly."
	form := func() url.Values {
		return url.Values{"market": {s.native(t, 5000)}, "side": {"YES"}, "price": {"61"}}
	}

	answer := v.consent(s, cookies, "approve", hub.url+"/api/protocol/v1")
	hub.away.Store(true)
	v.gets(http.StatusBadGateway, away, "/callback?"+answer, nil)
	v.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	hub.away.Store(false)
	v.gets(http.StatusSeeOther, "", "/callback?"+v.consent(s, cookies, "approve", hub.url+"/api/protocol/v1"), nil)
	v.gets(http.StatusOK, "@"+p.user, "/", nil)

	tokens := hub.seen("dat_")
	post(t, s.Hub+"/api/protocol/v1/oauth/revoke", formed(url.Values{"token": {tokens[0]}, "client_id": {client}}.Encode())).is(http.StatusOK)
	get(t, s.Hub+"/api/protocol/v1/me", bearer(tokens[0])).fails(http.StatusUnauthorized, "unauthenticated")
	first := v.gets(http.StatusSeeOther, "", "/call", form())
	if n := len(hub.seen("dat_")); n != len(tokens)+1 {
		t.Errorf("%d access tokens, before the renewal %d", n, len(tokens))
	}

	waits := form()
	hub.away.Store(true)
	v.gets(http.StatusBadGateway, away, "/call", waits)
	v.gets(http.StatusBadGateway, away, first, nil)
	v.gets(http.StatusOK, "@"+p.user, "/", nil)
	hub.away.Store(false)
	v.gets(http.StatusOK, "at 61 cents", first, nil)
	v.gets(http.StatusSeeOther, "", "/call", waits)

	hub.away.Store(true)
	v.gets(http.StatusBadGateway, "the hub could not be told", "/signout", url.Values{})
	v.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	_, page := v.ask("/", nil)
	for _, token := range append(hub.seen("dat_"), hub.seen("drt_")...) {
		if strings.Contains(app.out.String()+page, token) {
			t.Errorf("a token is shown or logged:\n%s", app.out)
		}
	}
}
