package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const authorizePath = "/protocol/authorize"

// TestConsentPage (docs/security.md S9) checks that the page names the app, its scopes and the end of the grant, escapes text of
// the app, and can be neither framed nor cached.
func TestConsentPage(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public", "name", `"<script>alert(1)</script>"`)
	w := b.send("GET", a.authorizeURL(), "", b.bySession())
	page := w.Body.String()
	for _, part := range []string{
		"For at most 14 days, until 2 October 2026", "create or see your keys", "Neither the app nor you can change or delete a call", "Not you?",
		"&lt;script&gt;alert(1)&lt;/script&gt;</bdi>?", "@mara_k", "weather.example", "File calls as you", "See who you are", "Stay connected",
		"You can disconnect it at any time", "app.example.com",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "Go live as you") {
		t.Error(page)
	}
	h := w.Header()
	csp := h.Get("Content-Security-Policy")
	if !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "form-action 'self' https:;") || h.Get("X-Frame-Options") != "DENY" ||
		h.Get("Referrer-Policy") != "same-origin" || h.Get("Cache-Control") != "no-store" || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", h)
	}
	native := b.register("public", "redirectUris", `["http://127.0.0.1/cb"]`)
	w = b.send("GET", native.authorizeURL("redirect_uri", "http://127.0.0.1:8421/cb"), "", b.bySession())
	if csp := w.Header().Get("Content-Security-Policy"); w.Code != 200 || !strings.Contains(csp, "form-action 'self' https: http:;") {
		t.Errorf("%d %s", w.Code, csp)
	}
}

// TestDecisionBelongsToItsSession (docs/security.md S9) checks that a decision is accepted once, and only from the session that
// opened the page.
func TestDecisionBelongsToItsSession(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	token := b.consent(a.authorizeURL())
	form := url.Values{"request": {token}, "decision": {"approve"}}
	own := with("Origin", hubURL)
	other := b.ledger.AddOperator("tide")
	another := with("Cookie", b.signIn(other))
	second := with("Cookie", b.signIn(b.mara)) // another session of the same user
	for name, c := range map[string]struct {
		form    url.Values
		headers []header
		status  int
	}{
		"another user":    {form, []header{another, own}, 403},
		"another session": {form, []header{second, own}, 403},
		"no session":      {form, []header{own}, 401},
		"another token":   {url.Values{"request": {token[:len(token)-2] + "AA"}, "decision": {"approve"}}, []header{b.bySession()}, 403},
		"no token":        {url.Values{"decision": {"approve"}}, []header{b.bySession()}, 403},
		"no decision":     {url.Values{"request": {token}}, []header{b.bySession()}, 403},
		"an odd decision": {url.Values{"request": {token}, "decision": {"yes"}}, []header{b.bySession()}, 403},
		"two decisions":   {url.Values{"request": {token}, "decision": {"deny", "approve"}}, []header{b.bySession()}, 400},
	} {
		want(t, b.post(authorizePath, c.form, c.headers...).as(name), c.status, "", "Location: ", "Referrer-Policy: same-origin")
	}
	w := b.post(authorizePath, form, with("Cookie", b.cookie), with("Origin", "null"), with("Sec-Fetch-Site", "same-origin"))
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), callback+"?code=") { // docs/security.md S8
		t.Errorf("approve: %d %v", w.Code, w.Header())
	}
	want(t, b.post(authorizePath, form, b.bySession()), 403, "")
	w = b.post(authorizePath, url.Values{"request": {b.consent(a.authorizeURL())}, "decision": {"deny"}}, b.bySession())
	to, err := url.Parse(w.Header().Get("Location"))
	if w.Code != http.StatusSeeOther || err != nil || to.Query().Get("error") != "access_denied" || to.Query().Get("iss") != issuer || to.Query().Get("state") != "s 1/é" {
		t.Errorf("deny: %d %s", w.Code, to)
	}
}

// TestDecisionsAreNotSwapped (docs/security.md S9) checks that a decision approves the request that its page showed, also if the
// address or the form names another app, scope or redirect address.
func TestDecisionsAreNotSwapped(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	small, large := b.register("public", "scopes", `["profile:read"]`), b.register("public", "redirectUris", `["https://evil.example/cb"]`)
	shown := b.consent(small.authorizeURL("scope", "profile:read"))
	pending := b.consent(large.authorizeURL("redirect_uri", "https://evil.example/cb"))
	target := large.authorizeURL("redirect_uri", "https://evil.example/cb")
	w := b.post(target, url.Values{"request": {shown}, "decision": {"approve"}, "client_id": {large.ID}, "scope": {"signal:create"}, "redirect_uri": {"https://evil.example/cb"}}, b.bySession())
	to, err := url.Parse(w.Header().Get("Location"))
	if w.Code != http.StatusSeeOther || err != nil || to.Host != "app.example.com" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	want(t, b.redeem(large, to.Query().Get("code"), "redirect_uri", "https://evil.example/cb"), 400, "invalid_grant")
	want(t, b.redeem(small, to.Query().Get("code")), 200, "", "scope=profile:read")
	two, used := url.Values{"request": {pending, shown}, "decision": {"approve"}}, url.Values{"request": {shown}, "decision": {"approve"}}
	want(t, b.post(authorizePath, two, b.bySession()), http.StatusBadRequest, "", "Location: ")
	want(t, b.post(authorizePath, used, b.bySession()), http.StatusForbidden, "", "Location: ")
}

// TestInvalidAppsGetAnErrorPage (docs/security.md S1) checks that the hub shows an error page instead of redirecting to an
// unregistered app or address. Other errors are reported to the app by a redirect.
func TestInvalidAppsGetAnErrorPage(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	for _, pairs := range [][]string{
		{"client_id", "no_such_app"},
		{"client_id", ""},
		{"redirect_uri", ""},
		{"redirect_uri", "https://app.example.com@evil.example/cb"},
	} {
		for name, who := range map[string]header{"signed in": b.bySession(), "signed out": with("X-Nothing", "x")} {
			b.clock.Advance(3 * time.Second)
			want(t, b.send("GET", a.authorizeURL(pairs...), "", who).as(name), 400, "", "Location: ", "<h1>", "Cache-Control: no-store")
		}
	}
	want(t, b.send("POST", "/api/admin/apps/"+a.ID, `{"trusted":true}`, byAdmin()), 200, "")
	for code, pairs := range map[string][]string{
		"invalid_request": {"code_challenge", ""}, "unsupported_response_type": {"response_type", "token"}, "invalid_scope": {"scope", "market:create"},
		"invalid_target": {"resource", "https://elsewhere.example"}, "consent_required": {"prompt", "none"},
	} {
		b.clock.Advance(3 * time.Second)
		w := b.send("GET", a.authorizeURL(pairs...), "", b.bySession())
		if to, err := url.Parse(w.Header().Get("Location")); w.Code != http.StatusSeeOther || err != nil || to.Query().Get("error") != code || to.Host != "app.example.com" {
			t.Errorf("%s: %d %v", code, w.Code, w.Header())
		}
	}
	w := b.send("GET", a.authorizeURL("prompt", "none"), "")
	if w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Location"), "error=login_required") {
		t.Errorf("prompt=none without a session: %d %v", w.Code, w.Header())
	}
}

// TestSignInAndBack checks that a request without a session is redirected to the provider and then back to the requested page,
// with a session and without the cookie of the developer page.
func TestSignInAndBack(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	w := b.send("GET", a.authorizeURL(), "")
	to, err := url.Parse(w.Header().Get("Location"))
	if w.Code != http.StatusSeeOther || err != nil || !strings.HasPrefix(to.String(), idpURL+"?") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	back, state := to.Query().Get("return_to"), to.Query().Get("state")
	if back != hubURL+a.authorizeURL() || state == "" {
		t.Fatalf("the sign-in returns to %s", back)
	}
	jar := w.Result().Cookies()
	token := url.Values{"token": {"jwt.mara_k.sig"}, "state": {state}, "return_to": {strings.TrimPrefix(back, hubURL)}}
	w = b.post("/dev/session", token, with("Origin", "https://idp.example"))
	jar = append(jar, w.Result().Cookies()...)
	next := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(next, "/dev/session?") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	want(t, b.send("GET", next, "", cookies(w.Result().Cookies()), with("Accept", "application/json")), 403, "forbidden") // another browser
	w = b.send("GET", next, "", cookies(jar))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != a.authorizeURL() {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	var session []*http.Cookie
	for _, c := range w.Result().Cookies() {
		switch {
		case c.Name == "db_dev":
			t.Error("the sign-in of a visitor opens the developer page")
		case c.Name == "db_uid", c.Name == "db_sig", c.Name == "__Host-db_bind":
			session = append(session, c)
			if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode {
				t.Errorf("%v", c)
			}
		}
	}
	if page := b.send("GET", a.authorizeURL(), "", cookies(session)); page.Code != 200 || !hidden.MatchString(page.Body.String()) {
		t.Errorf("%d %s", page.Code, page.Body)
	}
}

// TestSignInLeadsNowhereElse checks that a sign-in with an invalid return address redirects to /dev.
func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	w := b.send("GET", "/settings/apps", "")
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("return_to") != hubURL+"/settings/apps" {
		t.Fatalf("%v", w.Header())
	}
	state := w.Result().Cookies()
	for _, back := range []string{
		"https://evil.example/apps", "//evil.example/apps", "/apps/../x", "/\\evil.example", "/protocol/authorize", "/protocol/authorize?x=1\r\nSet-Cookie: a=b", "/apps\n", hubURL + ".evil.example/apps",
	} {
		next := "/dev/session?" + url.Values{"state": {to.Query().Get("state")}, "return_to": {back}}.Encode()
		out := b.send("GET", next, "", cookies(append(state, &http.Cookie{Name: "db_dev_next", Value: "jwt.mara_k.sig"})))
		want(t, out, http.StatusSeeOther, "", "Location: /dev")
	}
}

// TestConnectedApps checks that the page of connected apps lists a grant and revokes it, but only for a request with a session.
func TestConnectedApps(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	access, _, grantID := b.connect(b.register("public", "name", `"Tide & <b>Co</b>"`))
	w := b.send("GET", "/settings/apps", "", b.bySession())
	want(t, w, 200, "", "Tide &amp; &lt;b&gt;Co&lt;/b&gt;", grantID, "File calls as you")
	form := url.Values{"grant": {grantID}}
	want(t, b.post("/apps/revoke", form, with("Origin", hubURL)), 401, "")
	want(t, b.send("GET", mePath, "", bearer(access)), 200, "")
	want(t, b.post("/apps/revoke", form, b.bySession()), http.StatusSeeOther, "", "Location: /settings/apps")
	want(t, b.send("GET", mePath, "", bearer(access)), 401, "unauthenticated")
	has(t, b.send("GET", "/settings/apps", "", b.bySession()), "No connected apps.", "Disconnected by you")
}

// TestConsentLimit checks that one session may open at most 30 consent pages a minute.
func TestConsentLimit(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	for range 30 {
		if w := b.send("GET", a.authorizeURL(), "", b.bySession()); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	want(t, b.send("GET", a.authorizeURL(), "", b.bySession()), 429, "", "!Retry-After: ")
	want(t, b.send("GET", "/settings/apps", "", b.bySession()), 200, "")
}

// cookies sends the cookies of a browser that have not been deleted.
func cookies(jar []*http.Cookie) header {
	return func(r *http.Request) {
		for _, c := range jar {
			if c.MaxAge >= 0 {
				r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
			}
		}
	}
}

func TestUnreviewedAppIsMarked(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	marked := func() bool {
		return strings.Contains(b.send("GET", a.authorizeURL(), "", b.bySession()).Body.String(), "Not reviewed.")
	}
	if !marked() {
		t.Error("the consent page does not mark an unreviewed app")
	}
	path := "/api/admin/apps/" + a.ID
	want(t, b.send("POST", path, `{}`, byAdmin()), 400, "missing_trusted")
	want(t, b.send("POST", path, `{"trusted":"yes"}`, byAdmin()), 400, "invalid_trusted")
	want(t, b.send("POST", "/api/admin/apps/none", `{"trusted":true}`, byAdmin()), 404, "not_found")
	w := b.send("POST", path, `{"trusted":true}`, byAdmin())
	if want(t, w, 200, ""); !strings.Contains(w.Body.String(), `"trusted":true`) || marked() {
		t.Errorf("after the review: %s", w.Body)
	}
	if n := len(b.audit.entries); n == 0 {
		t.Error("no audit entry")
	}
}
