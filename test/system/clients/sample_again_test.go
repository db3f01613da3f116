package clients

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// A second sign-in ends the session and the grant of the first one.
func TestSampleSignsInAgain(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	cookies := p.Session(t)
	hub := standBetween(t, s.Hub)
	app := runSample(t, "HUB_URL="+hub.url, "CLIENT_ID="+sampleApp(t, s, p))
	v := app.visitor(t)
	me := s.Hub + "/api/protocol/v1/me"
	enter := func() (session []*http.Cookie, token string) {
		t.Helper()
		v.gets(http.StatusSeeOther, "", "/callback?"+v.consent(s, cookies, "approve", hub.url+"/api/protocol/v1"), nil)
		tokens := hub.seen("dat_")
		return v.http.Jar.Cookies(mustURL(t, app.url)), tokens[len(tokens)-1]
	}
	old, first := enter()
	get(t, me, stack.Bearer(first)).Require(http.StatusOK)
	_, second := enter()
	get(t, me, stack.Bearer(first)).RequireError(http.StatusUnauthorized, "unauthenticated")
	get(t, me, stack.Bearer(second)).Require(http.StatusOK)
	copied := app.visitor(t)
	copied.http.Jar.SetCookies(mustURL(t, app.url), old)
	copied.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	v.gets(http.StatusSeeOther, "", "/call", url.Values{
		"market": {s.NewNativeMarket(t, 5000, nil)}, "side": {"YES"},
		"price": {"61"},
	})

	// A denial does not change the session, and the page shows no text of the query.
	no, err := url.ParseQuery(v.consent(s, cookies, "deny", hub.url+"/api/protocol/v1"))
	if err != nil {
		t.Fatal(err)
	}
	no.Set("error", "Call 0900 123 now")
	res, page := v.ask("/callback?"+no.Encode(), nil)
	if res.StatusCode != http.StatusBadGateway || strings.Contains(page, "0900") ||
		strings.Contains(page, "the user said no") || !strings.Contains(page, "@"+p.Handle) {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
}

// A revoked access token is refreshed. While the hub is unavailable every step shows a page; all works again after it.
func TestSampleWithoutItsHub(t *testing.T) {
	t.Parallel()
	s := system(t)
	p := s.NewOperator(t)
	cookies := p.Session(t)
	hub := standBetween(t, s.Hub)
	client := sampleApp(t, s, p)
	app := runSample(t, "HUB_URL="+hub.url, "CLIENT_ID="+client)
	v := app.visitor(t)
	const away = "The hub cannot be reached. Nothing is lost; try again shortly."
	form := func() url.Values {
		return url.Values{"market": {s.NewNativeMarket(t, 5000, nil)}, "side": {"YES"}, "price": {"61"}}
	}

	answer := v.consent(s, cookies, "approve", hub.url+"/api/protocol/v1")
	hub.away.Store(true)
	v.gets(http.StatusBadGateway, away, "/callback?"+answer, nil)
	v.gets(http.StatusOK, "Sign in with Signalcast", "/", nil)
	hub.away.Store(false)
	v.gets(http.StatusSeeOther, "", "/callback?"+v.consent(s, cookies, "approve", hub.url+"/api/protocol/v1"), nil)
	v.gets(http.StatusOK, "@"+p.Handle, "/", nil)

	tokens := hub.seen("dat_")
	post(t, s.Hub+"/api/protocol/v1/oauth/revoke", stack.Form(url.Values{
		"token":     {tokens[0]},
		"client_id": {client},
	})).Require(http.StatusOK)
	get(t, s.Hub+"/api/protocol/v1/me", stack.Bearer(tokens[0])).RequireError(http.StatusUnauthorized, "unauthenticated")
	first := v.gets(http.StatusSeeOther, "", "/call", form())
	if n := len(hub.seen("dat_")); n != len(tokens)+1 {
		t.Errorf("%d access tokens, before the renewal %d", n, len(tokens))
	}

	waits := form()
	hub.away.Store(true)
	v.gets(http.StatusBadGateway, away, "/call", waits)
	v.gets(http.StatusBadGateway, away, first, nil)
	v.gets(http.StatusOK, "@"+p.Handle, "/", nil)
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
