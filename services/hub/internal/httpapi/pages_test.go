package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
)

const (
	idpURL   = "https://idp.example/login"
	aPerson  = "jwt.tidewatch.sig"
	anotherP = "jwt.evil.sig"
)

// mountPages adds the HTML pages to the router, as the hub does.
func (b *fixture) mountPages() {
	b.t.Helper()
	err := pages.Mount(b.server.Router(), site.Deps{
		HubURL: hubURL, Origin: hubURL, LoginURL: idpURL, Secure: true,
		Ledger: b.deps.Ledger, Pins: b.deps.Pins, Clips: b.deps.Stations, Links: b.deps.Links,
		Network: b.deps.Network, Keep: 10 * time.Minute,
		Messages: b.deps.Messages, Notices: b.deps.Accounts.Notices, Push: b.store, PushKey: "the public key",
		Email: b.deps.Accounts.Email, Provider: "the test issuer", People: site.People{
			Follows: b.deps.Accounts.Follows, Claims: b.deps.Accounts.Claims, Payouts: b.deps.Accounts.Payouts,
			Profiles: b.deps.Accounts.Profiles, Watches: b.store, Data: b.store, Archive: b.server.Archive, Deletion: b.deletion(),
			Handles: b.handles(), Pictures: b.deps.Accounts.Pictures,
		},
		Visitor: b.server.Visitor, CountConsent: b.server.CountConsent, StartSession: b.server.StartSession, EndSession: b.server.EndSession,
		MintKey: b.server.MintKey, RevokeKey: b.server.RevokeKey,
		OwnPage: b.server.OwnPage, FileCall: b.server.FileCall, AppendEvent: b.server.AppendEvent, SessionOwner: b.server.SessionOwner,
		Seal: b.deps.Sessions.Seal, Unseal: b.deps.Sessions.Unseal, FormToken: b.server.FormToken, IsFormToken: b.server.IsFormToken, Grants: b.deps.Grants,
		Sessions: b.deps.Sessions, SessionStart: b.server.SessionStart, SendReport: b.deps.Moderation.Report, OnAir: b.deps.OnAir,
		Login:      b.server.Login,
		PublicRead: b.server.PublicRead, ReceiptJSON: b.server.Receipt, Now: b.clock.Now, Log: b.deps.Log,
	})
	must(b.t, err)
}

// browser stores and sends cookies as a browser does. From another site, it sends SameSite=Lax cookies only with a top-level GET,
// and never sends SameSite=Strict cookies.
type browser struct {
	b   *fixture
	jar map[string]*http.Cookie
}

func newBrowser(b *fixture) *browser { return &browser{b: b, jar: map[string]*http.Cookie{}} }

// visit navigates from another site if foreign is true, otherwise from the hub. It follows redirects and returns the last answer.
// Redirected requests count as coming from the site where the navigation started.
func (w *browser) visit(foreign bool, method, target, form string) *answer {
	w.b.t.Helper()
	for range 5 {
		out := w.step(foreign, method, target, form)
		if out.Code != http.StatusSeeOther {
			return out
		}
		method, target, form = http.MethodGet, out.Header().Get("Location"), ""
	}
	w.b.t.Fatal("too many redirects")
	return nil
}

// step sends one request as visit does, but without following a redirect. It stores the cookies of the answer.
func (w *browser) step(foreign bool, method, target, form string) *answer {
	r := httptest.NewRequest(method, target, strings.NewReader(form))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", hubURL)
		if foreign {
			r.Header.Set("Origin", "https://idp.example")
		}
	}
	for _, c := range w.jar {
		under := r.URL.Path == c.Path || strings.HasPrefix(r.URL.Path, strings.TrimSuffix(c.Path, "/")+"/")
		sent := !foreign || c.SameSite == http.SameSiteNoneMode || c.SameSite == http.SameSiteLaxMode && method == http.MethodGet
		if under && sent {
			r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
		}
	}
	w.b.addFormToken(r, form)
	out := testkit.Serve(w.b.server, r)
	for _, c := range out.Result().Cookies() {
		if session := slices.Contains([]string{"db_uid", "db_sig", "__Host-db_bind", "sc_draft"}, c.Name); !c.HttpOnly || !c.Secure || !session && !strings.HasPrefix(c.Path, "/dev") {
			w.b.t.Errorf("cookie %v", c)
		}
		if w.jar[c.Name] = c; c.MaxAge < 0 {
			delete(w.jar, c.Name)
		}
	}
	return &answer{out, method + " " + target}
}

// begin opens the developer page and returns the state that it sends to the provider.
func (w *browser) begin() string {
	w.b.t.Helper()
	page := w.visit(false, http.MethodGet, "/dev", "")
	_, rest, _ := strings.Cut(page.Body.String(), idpURL+"?")
	query, _, _ := strings.Cut(rest, `"`)
	v, err := url.ParseQuery(strings.ReplaceAll(query, "&amp;", "&"))
	if err != nil || v.Get("state") == "" || v.Get("return_to") != hubURL+"/dev" {
		w.b.t.Fatalf("the page has no link to the provider: %v %s", v, page.Body)
	}
	return v.Get("state")
}

// back returns the form with which the provider returns from a sign-in.
func back(token, state string) string {
	return url.Values{"token": {token}, "state": {state}, "return_to": {"/dev"}}.Encode()
}

// TestDeveloperSignInFromAnotherSite checks the sign-in with the form of the provider, which is another site. The sign-in works
// with only those cookies that a browser sends from there.
func TestDeveloperSignInFromAnotherSite(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	w := newBrowser(b)
	page := w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
	if page.Code != 200 || !strings.Contains(page.Body.String(), "Signed in as <b>@tidewatch</b>") {
		t.Fatalf("%d %s", page.Code, page.Body)
	}
	if names := slices.Sorted(maps.Keys(w.jar)); fmt.Sprint(names) != "[__Host-db_bind db_dev db_sig db_uid]" {
		t.Errorf("cookies %v", names)
	}
	want(t, w.visit(false, http.MethodPost, "/dev/keys", "label=bot&permission=read"), 200, "", "dk_")
	want(t, w.visit(false, http.MethodPost, "/dev/keys", "label=bot&permission=read&permission=read"), 400, "")
	b.clock.Advance(15*time.Minute + time.Second)
	want(t, w.visit(false, http.MethodPost, "/dev/keys", "label=old+bot&permission=read"), 403, "", "No key was created.", ` value="old bot"`)
	want(t, w.visit(true, http.MethodPost, "/dev/session", back(aPerson, "")), http.StatusForbidden, "")
}

// TestLimitsOfTheDeveloperPage checks the notices of the developer page at the maximum numbers of API keys and of apps.
func TestLimitsOfTheDeveloperPage(t *testing.T) {
	t.Parallel()
	w := newBrowser(withPages(t))
	w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
	key := "label=bot&permission=read"
	app := url.Values{
		"name": {"Gauge"}, "type": {"public"}, "redirectUris": {"https://app.example/callback"}, "scope": {"profile:read"},
	}.Encode()
	for range 10 {
		want(t, w.visit(false, http.MethodPost, "/dev/keys", key), 200, "")
	}
	want(t, w.visit(false, http.MethodPost, "/dev/keys", key), 409, "", "You have 10 active keys, the maximum. Revoke one first.")
	for range grant.MaxApps {
		want(t, w.visit(false, http.MethodPost, "/dev/apps", app), 200, "")
	}
	want(t, w.visit(false, http.MethodPost, "/dev/apps", app), 409, "", "You have 20 active apps, the maximum. Shut down one first.")
}

// TestAnotherSiteCannotSignIn checks that another site cannot sign a visitor in with a token of its choice, whatever state it
// sends.
func TestAnotherSiteCannotSignIn(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	evil := newBrowser(b) // the other site has the state of its own sign-in
	theirs := evil.begin()
	const get, post = http.MethodGet, http.MethodPost
	for name, c := range map[string]struct{ before, method, target, form string }{
		"a made-up state":                   {"begin", post, "/dev/session", back(anotherP, "made-up")},
		"their own state":                   {"begin", post, "/dev/session", back(anotherP, theirs)},
		"a browser that began nothing":      {"", post, "/dev/session", back(anotherP, theirs)},
		"a link to the end":                 {"begin", get, "/dev/session?state=" + theirs + "&token=" + anotherP, ""},
		"a state of nothing":                {"", get, "/dev/session?state=", ""},
		"a form from there":                 {"sign in", post, "/dev/keys", "label=x&permission=read"},
		"the end of the session from there": {"sign in", post, "/sign-out", ""},
		"a state that was used":             {"sign in", post, "/dev/session", "used"},
	} {
		w, state := newBrowser(b), ""
		if c.before != "" {
			state = w.begin()
		}
		if c.before == "sign in" {
			w.visit(true, post, "/dev/session", back(aPerson, state))
		}
		if c.form == "used" {
			c.form = back(anotherP, state)
		}
		want(t, w.visit(true, c.method, c.target, c.form).as(name), http.StatusForbidden, "")
		has(t, w.visit(false, get, "/dev", ""), "!@evil")
	}
	w := newBrowser(b)
	for _, token := range []string{"jwt.x.forged", "a b", "x;y", "", strings.Repeat("a", 3501)} {
		want(t, w.visit(true, post, "/dev/session", back(token, w.begin())).as(token), 401, "")
		equal(t, w.jar["db_dev"], nil)
	}
	equal(t, b.count("operator_keys"), 1) // only the key of mara_k exists
}

// TestDeveloperPageHasTheLimit checks that the developer page and the API routes for the same token share one limit. The limit is
// 120 requests per subject in any minute.
func TestDeveloperPageHasTheLimit(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	cookie := with("Cookie", "db_dev="+aPerson)
	origin := with("Origin", hubURL)
	for i := range 40 {
		for _, w := range []*answer{
			b.send("GET", "/dev", "", cookie),
			b.post("/dev/keys/revoke", url.Values{"id": {"nope"}}, cookie, origin),
			b.send("GET", "/api/dev/whoami", "", byLogin("tidewatch")),
		} {
			if w.Code == http.StatusTooManyRequests {
				t.Fatalf("round %d is refused", i+1)
			}
		}
	}
	for _, w := range []*answer{
		b.send("GET", "/dev", "", cookie),
		b.post("/dev/keys", url.Values{"label": {"x"}, "permission": {"read"}}, cookie, origin),
		b.post("/dev/keys/revoke", url.Values{"id": {"nope"}}, cookie, origin),
		b.send("GET", "/api/dev/whoami", "", byLogin("tidewatch")),
	} {
		want(t, w, http.StatusTooManyRequests, "", "Retry-After: 60", `Ratelimit-Policy: "hub";q=120;w=60`)
	}
	want(t, b.send("GET", "/dev", "", with("Cookie", "db_dev=jwt.otto.sig")), 200, "")
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", "/dev", "", cookie), 200, "")
}

// TestDeveloperFormsCheckTheSignInFirst checks that a form without a sign-in is rejected before its content is parsed, and that a
// form of another origin is rejected.
func TestDeveloperFormsCheckTheSignInFirst(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	form := contentType("application/x-www-form-urlencoded")
	good := with("Cookie", "db_dev="+aPerson)
	for _, path := range []string{"/dev/keys", "/dev/keys/revoke"} {
		for name, c := range map[string]struct {
			headers []header
			status  int
		}{
			"not signed in":    {[]header{with("Origin", hubURL)}, 401},
			"a forged token":   {[]header{with("Origin", hubURL), with("Cookie", "db_dev=jwt.x.forged")}, 401},
			"signed in":        {[]header{with("Origin", hubURL), good}, 400},
			"another scheme":   {[]header{with("Origin", "http://hub.example"), toHost("hub.example"), good}, 403},
			"no Origin header": {[]header{good}, 403},
		} {
			for _, accept := range []string{"text/html", "application/json", ""} {
				w := b.send("POST", path, "label=%zz", append(c.headers, form, with("Accept", accept))...).as(name + " " + accept)
				want(t, w, c.status, "")
				if got := w.Header().Get("WWW-Authenticate"); (got == "Bearer") != (c.status == http.StatusUnauthorized) {
					t.Errorf("%s, %s, Accept %q: WWW-Authenticate is %q", path, name, accept, got)
				}
			}
		}
	}
}

// TestUnknownPaths checks that a client that accepts HTML gets the error page for an unknown path, with the headers of the page
// of an unknown market. Other clients and the paths for programs get the error as JSON.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	html := with("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	market := b.send("GET", "/m/nope", "", html)
	for _, path := range []string{"/nope", "/login", "/tv/nope", "/studio/x", "/apiary"} {
		w := b.send("GET", path, "", html)
		want(t, w, 404, "", "Content-Type: text/html; charset=UTF-8", "There is no page at this address.", "Cache-Control: no-store")
		for _, name := range []string{
			"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy", "X-Content-Type-Options", "Vary",
		} {
			if got, same := w.Header()[name], market.Header()[name]; len(got) == 0 || !slices.Equal(got, same) {
				t.Errorf("%s: the header %s is %q, want %q", path, name, got, same)
			}
		}
		for _, accept := range []string{"", "*/*", "application/json"} {
			w := b.send("GET", path, "", with("Accept", accept))
			want(t, w, 404, "not_found", "Content-Type: application/json; charset=utf-8")
		}
		want(t, b.send("POST", path, "", html), 404, "not_found")
	}
	for _, path := range []string{"/api", "/api/nope", "/oauth/nope", "/.well-known/nope", "/mcp", "/protocol/nope"} {
		want(t, b.send("GET", path, "", html), 404, "not_found", "Content-Type: application/json; charset=utf-8")
	}
	for _, path := range []string{"/m/a%2Fb", "/receipts/a%2Fb"} { // a route, but no resource
		want(t, b.send("GET", path, "", html), 404, "", "Content-Type: text/html; charset=UTF-8", "There is no page at this address.")
		want(t, b.send("GET", path, ""), 404, "not_found", "Content-Type: application/json; charset=utf-8")
	}
	want(t, b.send("PUT", "/tv", "", html), 405, "method_not_allowed")
	want(t, b.send("GET", "/m/701122/call", "", html), http.StatusSeeOther, "", "Location: /m/701122") // the address of a form
	want(t, b.send("GET", "/sign-out", "", html), http.StatusSeeOther, "", "Location: /")
	want(t, b.send("GET", "/m/701122/call", ""), 405, "method_not_allowed")
}

// TestReceiptShowsTheMarketsTitle (docs/guarantees.md P10) checks that receipts show the title that the market had at the call,
// not a title that the caller sent.
func TestReceiptShowsTheMarketsTitle(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	const claim = "Mara K was right about everything"
	w := b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"marketTitle":"`+claim+`"}`, b.byKey())
	want(t, w, 200, "")
	receipt := "/receipts/" + field(w, "id")
	title := b.market(marketID).GetTitle()
	page := b.send("GET", receipt, "").Body.String()
	if strings.Contains(page, claim) || strings.Count(page, title) < 3 { // in the title, the card and the headline
		t.Errorf("the page shows the caller's headline: %s", page)
	}
	has(t, b.send("GET", receipt, "", with("Accept", "application/json")), "marketTitle="+title)
	b.rename(marketID, "Renamed by its venue")
	if page := b.send("GET", receipt, "").Body.String(); strings.Count(page, title) < 3 {
		t.Errorf("the stored title is not shown: %s", page)
	}
	if !strings.Contains(page, "<dt>Market price at the time</dt><dd>YES 31.5¢</dd>") {
		t.Errorf("the ledger's price at the call is not shown: %s", page)
	}
}

// TestPlainLabelsAreLeftOut checks that a market shows outcome labels only if they differ from Yes and No.
func TestPlainLabelsAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		labels []string
		shown  string
	}{
		{nil, ""}, {[]string{"Yes", "No"}, ""}, {[]string{"YES", "no"}, ""}, {[]string{"No", "Yes"}, "[No Yes]"}, {[]string{"Over", "Under"}, "[Over Under]"},
	} {
		b := setup(t)
		b.ledger.Exec(`UPDATE markets SET outcome_labels = coalesce($2::text[], '{}') WHERE market_id = $1`, marketID, c.labels)
		equal(t, field(b.send("GET", "/api/m/701122", ""), "outcomes"), c.shown, c.labels)
	}
}

// TestSentimentOfPageAndRoute checks that the market page shows the text for the label that the sentiment route returns.
func TestSentimentOfPageAndRoute(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	words := map[string]string{"bullish": "Leans YES", "bearish": "Leans NO", "mixed": "Split", "neutral": "No clear lean"}
	seen := map[string]bool{}
	for yes := range int64(9) {
		for no := range 9 - yes {
			for _, each := range []float64{0.5, 0.61, 1} {
				b.ledger.Lock()
				b.ledger.Sentiments = map[string]*cataloguev1.GetSentimentResponse{marketID: {
					Yes: yes, No: no, WeightYes: float64(yes) * each, WeightNo: float64(no) * 0.75,
				}}
				b.ledger.Unlock()
				label := field(b.send("GET", "/api/m/701122/sentiment", ""), "label")
				word := words[label]
				if seen[label] = true; yes+no == 0 {
					word = "No calls by people yet."
				}
				if page := b.send("GET", "/m/701122", "").Body.String(); word == "" || !strings.Contains(page, word) {
					t.Errorf("%d YES of %v and %d NO: the label of the route is %q, and the page lacks %q", yes, each, no, label, word)
				}
			}
		}
	}
	equal(t, len(seen), len(words), seen)
}
