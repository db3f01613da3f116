package edge_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"

	"github.com/signalcast/signalcast/services/hub/internal/edge/pages"
)

const (
	idpURL   = "https://idp.example/login"
	aPerson  = "jwt.tidewatch.sig"
	anotherP = "jwt.evil.sig"
)

// nobodyHeard is a hub that has read no partner.
type nobodyHeard struct{}

func (nobodyHeard) Heard(context.Context) (map[string]time.Time, error) { return nil, nil }

// mountPages adds the pages as the service mounts them.
func (b *bench) mountPages() {
	b.t.Helper()
	err := pages.Mount(b.server.Edge(), pages.Deps{
		HubURL: hubURL, Origin: hubURL, LoginURL: idpURL, Secure: true,
		Ledger: b.deps.Ledger, Pins: b.deps.Pins, Operators: b.deps.Operators,
		Network: b.deps.Network, Heard: nobodyHeard{}, Keep: 10 * time.Minute,
		Messages: b.deps.Messages, Provider: "the test issuer", People: pages.People{
			Follows: b.deps.Accounts.Follows, Claims: b.deps.Accounts.Claims, Payouts: b.deps.Accounts.Payouts,
			Accounts: b.deps.Accounts.People, Profiles: b.deps.Accounts.Profiles,
		},
		Visitor: b.server.Visitor, CountConsent: b.server.CountConsent, StartSession: b.server.StartSession, EndSession: b.server.EndSession, RevokeKey: b.server.RevokeKey,
		OwnPage: b.server.OwnPage, Grants: b.deps.Grants,
		Login: b.server.Login, ReceiptJSON: b.server.Receipt, Now: b.clock.Now, Log: b.deps.Log, Degraded: b.deps.Degraded,
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// browser keeps cookies and sends them as a browser does: those that are
// SameSite=Lax from another site with a GET of the whole tab alone, Strict never.
type browser struct {
	b   *bench
	jar map[string]*http.Cookie
}

func newBrowser(b *bench) *browser { return &browser{b: b, jar: map[string]*http.Cookie{}} }

// visit is a navigation of the tab, begun on another site or on ours; it follows
// redirects, which stay as foreign as their beginning, and gives the last answer.
func (w *browser) visit(foreign bool, method, target, form string) *httptest.ResponseRecorder {
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

func (w *browser) step(foreign bool, method, target, form string) *httptest.ResponseRecorder {
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
	out := httptest.NewRecorder()
	w.b.server.ServeHTTP(out, r)
	for _, c := range out.Result().Cookies() {
		if session := c.Name == "db_uid" || c.Name == "db_sig" || c.Name == "__Host-db_bind"; !c.HttpOnly || !c.Secure || !session && !strings.HasPrefix(c.Path, "/dev") {
			w.b.t.Errorf("cookie %v", c)
		}
		if w.jar[c.Name] = c; c.MaxAge < 0 {
			delete(w.jar, c.Name)
		}
	}
	return out
}

// begin opens the page and gives the state that goes to the provider.
func (w *browser) begin() string {
	w.b.t.Helper()
	page := w.visit(false, http.MethodGet, "/dev", "")
	_, rest, _ := strings.Cut(page.Body.String(), idpURL+"?")
	query, _, _ := strings.Cut(rest, `"`)
	v, err := url.ParseQuery(strings.ReplaceAll(query, "&amp;", "&"))
	if err != nil || v.Get("state") == "" || v.Get("return_to") != hubURL+"/dev" {
		w.b.t.Fatalf("no way to the provider: %v %s", v, page.Body)
	}
	return v.Get("state")
}

func back(token, state string) string {
	return url.Values{"token": {token}, "state": {state}, "return_to": {"/dev"}}.Encode()
}

// TestDeveloperSignInFromAnotherSite: the provider is another site, and the way
// back from it works with the cookies that a browser sends then.
func TestDeveloperSignInFromAnotherSite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	w := newBrowser(b)
	page := w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
	if page.Code != 200 || !strings.Contains(page.Body.String(), "Signed in as <b>@tidewatch</b>") {
		t.Fatalf("%d %s", page.Code, page.Body)
	}
	if names := slices.Sorted(maps.Keys(w.jar)); fmt.Sprint(names) != "[__Host-db_bind db_dev db_sig db_uid]" {
		t.Errorf("cookies %v", names)
	}
	if minted := w.visit(false, http.MethodPost, "/dev/keys", "label=bot&permission=read"); minted.Code != 200 || !strings.Contains(minted.Body.String(), "dk_") {
		t.Errorf("mint: %d", minted.Code)
	}
	if twice := w.visit(false, http.MethodPost, "/dev/keys", "label=bot&permission=read&permission=read"); twice.Code != 400 {
		t.Errorf("a permission twice: %d", twice.Code)
	}
	if again := w.visit(true, http.MethodPost, "/dev/session", back(aPerson, "")); again.Code != http.StatusForbidden {
		t.Errorf("without a state: %d", again.Code)
	}
}

// TestNobodyIsSignedInByAnotherSite: a token that another site slips in, with
// whatever state that site can know, signs nobody in.
func TestNobodyIsSignedInByAnotherSite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	evil := newBrowser(b) // begins a sign-in of its own, and knows its state
	theirs := evil.begin()
	for name, try := range map[string]func(w *browser) *httptest.ResponseRecorder{
		"a made-up state": func(w *browser) *httptest.ResponseRecorder {
			w.begin()
			return w.visit(true, http.MethodPost, "/dev/session", back(anotherP, "made-up"))
		},
		"their own state": func(w *browser) *httptest.ResponseRecorder {
			w.begin()
			return w.visit(true, http.MethodPost, "/dev/session", back(anotherP, theirs))
		},
		"a browser that began nothing": func(w *browser) *httptest.ResponseRecorder {
			return w.visit(true, http.MethodPost, "/dev/session", back(anotherP, theirs))
		},
		"a link to the end": func(w *browser) *httptest.ResponseRecorder {
			w.begin()
			return w.visit(true, http.MethodGet, "/dev/session?state="+theirs+"&token="+anotherP, "")
		},
		"a state of nothing": func(w *browser) *httptest.ResponseRecorder {
			return w.visit(true, http.MethodGet, "/dev/session?state=", "")
		},
		"a state that was used": func(w *browser) *httptest.ResponseRecorder {
			state := w.begin()
			w.visit(true, http.MethodPost, "/dev/session", back(aPerson, state))
			return w.visit(true, http.MethodPost, "/dev/session", back(anotherP, state))
		},
		"a form from there": func(w *browser) *httptest.ResponseRecorder {
			w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
			return w.visit(true, http.MethodPost, "/dev/keys", "label=x&permission=read")
		},
		"the end of the session from there": func(w *browser) *httptest.ResponseRecorder {
			w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
			return w.visit(true, http.MethodPost, "/sign-out", "")
		},
	} {
		w := newBrowser(b)
		if out := try(w); out.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, out.Code)
		}
		if page := w.visit(false, http.MethodGet, "/dev", ""); strings.Contains(page.Body.String(), "@evil") {
			t.Errorf("%s: somebody else is signed in", name)
		}
	}
	w := newBrowser(b)
	for token, status := range map[string]int{"jwt.x.forged": 401, "a b": 401, "x;y": 401, "": 401, strings.Repeat("a", 3501): 401} {
		if out := w.visit(true, http.MethodPost, "/dev/session", back(token, w.begin())); out.Code != status || w.jar["db_dev"] != nil {
			t.Errorf("token %.20q: %d", token, out.Code)
		}
	}
	keys := 0
	for _, k := range b.ledger.Keys {
		if k.Owner != b.mara.GetId() {
			keys++
		}
	}
	if keys != 0 {
		t.Errorf("%d keys were minted", keys)
	}
}

// TestDeveloperPageHasTheLimit: the page and the routes behind the same token
// share 120 calls in any minute of a subject.
func TestDeveloperPageHasTheLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	cookie := with("Cookie", "db_dev="+aPerson)
	form := func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", hubURL)
	}
	for i := range 40 {
		for _, w := range []*httptest.ResponseRecorder{
			b.send("GET", "/dev", "", cookie),
			b.send("POST", "/dev/keys/revoke", "id=nope", cookie, form),
			b.send("GET", "/api/dev/whoami", "", byLogin("tidewatch")),
		} {
			if w.Code == http.StatusTooManyRequests {
				t.Fatalf("round %d is refused", i+1)
			}
		}
	}
	for _, w := range []*httptest.ResponseRecorder{
		b.send("GET", "/dev", "", cookie),
		b.send("POST", "/dev/keys", "label=x&permission=read", cookie, form),
		b.send("POST", "/dev/keys/revoke", "id=nope", cookie, form),
		b.send("GET", "/api/dev/whoami", "", byLogin("tidewatch")),
	} {
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" || w.Header().Get("RateLimit-Policy") != `"hub";q=120;w=60` {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
	if w := b.send("GET", "/dev", "", with("Cookie", "db_dev=jwt.otto.sig")); w.Code != 200 {
		t.Errorf("somebody else: %d", w.Code)
	}
	b.clock.Advance(time.Minute)
	if w := b.send("GET", "/dev", "", cookie); w.Code != 200 {
		t.Errorf("a minute later: %d", w.Code)
	}
}

// TestDeveloperFormsAskWhoFirst: a form that cannot be read says nothing to
// somebody who is not signed in, and none is taken from another origin.
func TestDeveloperFormsAskWhoFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	form := with("Content-Type", "application/x-www-form-urlencoded")
	good := with("Cookie", "db_dev="+aPerson)
	for _, path := range []string{"/dev/keys", "/dev/keys/revoke"} {
		for name, c := range map[string]struct {
			headers []header
			status  int
		}{
			"nobody":           {[]header{with("Origin", hubURL)}, 401},
			"a forged token":   {[]header{with("Origin", hubURL), with("Cookie", "db_dev=jwt.x.forged")}, 401},
			"signed in":        {[]header{with("Origin", hubURL), good}, 400},
			"another scheme":   {[]header{with("Origin", "http://hub.example"), toHost("hub.example"), good}, 403},
			"no word of where": {[]header{good}, 403},
		} {
			r := httptest.NewRequest("POST", path, strings.NewReader("label=%zz"))
			for _, h := range append(c.headers, form) {
				h(r)
			}
			w := httptest.NewRecorder()
			b.server.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("%s, %s: %d", path, name, w.Code)
			}
		}
	}
}

// TestReceiptShowsTheMarketsTitle: receipts show the stored title, which is the ledger's
// (integrity P10).
func TestReceiptShowsTheMarketsTitle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
	const claim = "Mara K was right about everything"
	w := b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"marketTitle":"`+claim+`"}`, b.byKey())
	want(t, w, 200, "")
	receipt := "/receipts/" + field(w, "id")
	title := b.ledger.Markets[marketID].GetTitle()
	page := b.send("GET", receipt, "").Body.String()
	if strings.Contains(page, claim) || strings.Count(page, title) < 3 { // title, card, headline
		t.Errorf("the page shows the caller's headline: %s", page)
	}
	if json := b.send("GET", receipt, "", with("Accept", "application/json")); field(json, "marketTitle") != title {
		t.Errorf("the record is %s", json.Body)
	}
	b.ledger.Lock()
	b.ledger.Markets[marketID].Title = "Renamed by its venue"
	b.ledger.Unlock()
	if page := b.send("GET", receipt, "").Body.String(); strings.Count(page, title) < 3 {
		t.Errorf("the stored title is not shown: %s", page)
	}
	if !strings.Contains(page, "<dt>Market then</dt><dd>31.5% YES</dd>") {
		t.Errorf("the ledger's price at the call is not shown: %s", page)
	}
}

// TestPlainLabelsAreLeftOut: labels travel when they say more than Yes and No.
func TestPlainLabelsAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		labels []string
		shown  string
	}{
		{nil, ""}, {[]string{"Yes", "No"}, ""}, {[]string{"YES", "no"}, ""}, {[]string{"No", "Yes"}, "[No Yes]"}, {[]string{"Over", "Under"}, "[Over Under]"},
	} {
		b := setup(t)
		b.ledger.Lock()
		m := proto.CloneOf(b.ledger.Markets[marketID])
		m.Outcomes = c.labels
		b.ledger.Markets[marketID] = m
		b.ledger.Unlock()
		if got := field(b.send("GET", "/api/m/701122", ""), "outcomes"); got != c.shown {
			t.Errorf("%v: %s, want %s", c.labels, got, c.shown)
		}
	}
}

// TestSentimentOfPageAndRoute: the words of the page are those of the numbers that
// the route gives, and its crowd is that of the route.
func TestSentimentOfPageAndRoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mountPages()
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
					word = "No calls, no sentiment."
				}
				if page := b.send("GET", "/m/701122", "").Body.String(); word == "" || !strings.Contains(page, word) {
					t.Errorf("%d YES of %v and %d NO: the route says %q, the page not %q", yes, each, no, label, word)
				}
			}
		}
	}
	if len(seen) != len(words) {
		t.Errorf("seen are only %v", seen)
	}
}
