package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/ratelimit"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/download"
	"github.com/signalcast/signalcast/services/hub/internal/email"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

const (
	wallet = "0x52908400098527886E0F7030069857D2E4169EE7"
	usdc   = "0x3333333333333333333333333333333333333333"
)

// accountFakes is a fake identity provider with the linked wallets of users, and a fake mail sender that stores digests.
type accountFakes struct {
	mu          sync.Mutex
	letters     []digest.Letter
	sendErr     error               // error of Send; nil: none
	wallets     map[string][]string // linked wallets by subject
	providerErr error               // error of Linked; nil: none
	lastToken   string              // identity token of the last claim
}

// wirePeople sets in deps the dependencies of the routes for follows, claims, payouts, profiles and digests.
func (b *fixture) wirePeople(deps *httpapi.Deps) {
	p, now := &accountFakes{wallets: map[string][]string{}}, b.clock.Now
	accounts := identityclaim.Accounts{Ledger: deps.Ledger.Operators}
	b.people = p
	pictures, err := picture.NewService(b.store, download.New(), hubURL, now, deps.Log)
	must(b.t, err)
	b.t.Cleanup(pictures.Close)
	limit := ratelimit.NewLocal("email", email.MaxLetters, 24*time.Hour, now)
	deps.Accounts = httpapi.Accounts{
		Follows:  follow.NewService(operator.Directory{Ledger: deps.Ledger.Operators}, b.store, now),
		Claims:   identityclaim.NewService([]identityclaim.Station{{Name: "partner", Profile: "https://partner.example/u/"}}, accounts, p, b.store, now),
		Payouts:  identityclaim.Payouts{Money: identityclaim.Money{ChainID: 31337, Label: "devnet", USDC: usdc}, Accounts: accounts, Suspended: b.store.Suspended},
		Profiles: profile.NewService(deps.Ledger.OperatorWrites, b.store, deps.Log, (&sequence{}).next, now),
		Digests:  digest.NewService(p, b.store, now),
		Notices:  b.store,
		Data:     b.store,
		Pictures: pictures,
		Email: &email.Service{
			Store: b.store, Secrets: deps.Sessions, Enabled: true, Now: now,
			Allow: func(_ context.Context, key string) bool { return limit.Allow(key).Allowed },
		},
	}
}

func (p *accountFakes) Send(_ context.Context, l digest.Letter) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sendErr != nil {
		return 0, p.sendErr
	}
	p.letters = append(p.letters, l)
	return 2, nil
}

// Linked reports whether the wallet is linked to the subject. It accepts id.<subject>.token as the identity token of the subject.
func (p *accountFakes) Linked(_ context.Context, _, subject, token string, a identityclaim.Address) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastToken = token
	if token != "" && token != "id."+subject+".token" {
		return false, caller.ErrUnauthenticated
	}
	if p.providerErr != nil {
		return false, p.providerErr
	}
	return slices.ContainsFunc(p.wallets[subject], func(w string) bool { return a.Is(w, "") }), nil
}

var errBroken = errors.New("broken")

func withIdentity(token string) header { return with("privy-id-token", token) }

// TestPageHeader checks that a public page without a session is cacheable and offers to sign in. With a session, the page shows
// the handle of the operator and is private.
func TestPageHeader(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for _, path := range []string{"/m/" + marketID, "/markets", "/u/mara_k"} {
		out, in := b.send("GET", path, ""), b.send("GET", path, "", b.bySession())
		if out.Code != 200 || strings.Contains(out.Body.String(), "/sign-out") || !strings.Contains(out.Body.String(), `class="enter"`) ||
			!strings.HasPrefix(out.Header().Get("Cache-Control"), "public") {
			t.Errorf("%s without a session: %d %v", path, out.Code, out.Header())
		}
		want(t, in, 200, "", "Signed in as <b>@mara_k</b>", "Cache-Control: private, no-store")
		for _, w := range []string{strings.Join(out.Header().Values("Vary"), ","), strings.Join(in.Header().Values("Vary"), ",")} {
			if !strings.Contains(w, "Cookie") {
				t.Errorf("%s varies by %s", path, w)
			}
		}
	}
	b.clock.Advance(time.Hour) // the cached result of the session check has expired
	b.ledger.Fail(apitest.ErrDB, "GetOperator")
	want(t, b.send("GET", "/markets", "", b.bySession()), 200, "", "!mara_k", "Cache-Control: private, no-store")
}

// TestOwnCalls checks that only the own profile page of an operator asks for calls that are not public yet.
func TestOwnCalls(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.AddOperator("tide")
	for _, read := range []struct {
		path string
		who  header
		own  bool
	}{{"/u/mara_k", b.bySession(), true}, {"/u/tide", b.bySession(), false}, {"/u/mara_k", with("Accept", "text/html"), false}} {
		want(t, b.send("GET", read.path, "", read.who), 200, "")
		if q := apitest.Last[*recordv1.ListCallsRequest](b.ledger); q.GetOwn() != read.own {
			t.Errorf("%s: asked for %v", read.path, q)
		}
	}
}

// TestFollowAndProfileForms submits the follow form of a profile page and the profile form of the signed-in operator, with valid
// and invalid values.
func TestFollowAndProfileForms(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	b.ledger.AddOperator("tide")
	want(t, b.post("/u/mara_k/follow", url.Values{}, b.bySession()), 400, "")
	want(t, b.post("/u/no_such_user/follow", url.Values{}, b.bySession()), 404, "")
	want(t, b.post("/u/tide/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "", "Location: /u/tide")
	equal(t, b.count("hub.follows"), 1)
	w := b.post("/profile", url.Values{"displayName": {"Mara"}, "bio": {"a\r\nb"}, "links": {"https://a.example\r\nhttps://b.example"}}, b.bySession())
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/settings/profile?done=saved" || b.operator("mara_k").GetBio() != "a\nb" || len(b.operator("mara_k").GetLinks()) != 2 {
		t.Errorf("%d %v %v", w.Code, w.Header(), b.operator("mara_k"))
	}
	w = b.post("/profile", url.Values{"displayName": {strings.Repeat("x", 65)}, "bio": {"the typed text"}}, b.bySession())
	want(t, w, 400, "", `aria-invalid="true"`, "the typed text", "1 to 64 characters")
}

// TestWalletClaimForm checks that a claim requires a wallet that the identity provider has linked, and that the page shows the
// reason of a rejection.
func TestWalletClaimForm(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	claim := func(address string) *answer {
		return b.post("/profile/claims", url.Values{"address": {address}}, b.bySession())
	}
	want(t, claim("0x12"), 400, "", "40 hex digits", ` value="0x12"`)
	want(t, claim(wallet), 403, "", "is not linked to your account at the test issuer")
	b.people.wallets[b.mara.GetProviderId()] = []string{wallet}
	want(t, claim(wallet), http.StatusSeeOther, "")
	for _, path := range []string{"/settings/profile", "/u/mara_k"} {
		has(t, b.send("GET", path, "", b.bySession()), wallet)
	}
	want(t, b.post("/profile/claims/drop", url.Values{"station": {"partner"}}, b.bySession()), http.StatusSeeOther, "")
	equal(t, b.count("hub.identity_claims"), 0)
}

// TestFormsActForTheirSession checks that a form acts for the session that sends it, even if its members or query name another
// operator.
func TestFormsActForTheirSession(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	victim, other := b.ledger.AddOperator("victim_v").GetId(), "tidewatch"
	b.ledger.AddOperator(other)
	b.people.wallets[b.mara.GetProviderId()] = []string{wallet}
	form := url.Values{"displayName": {"Mara"}, "address": {wallet}}
	for name, value := range map[string]string{
		"handle": "victim_v", "username": "victim_v", "callsign": "victim_v", "userId": victim, "user": victim, "denpaId": victim,
		"operatorId": victim, "owner": victim, "actor": victim, "sub": victim, "privyId": victim,
	} {
		form.Set(name, value)
	}
	before := apitest.Get[string](b.ledger, "SELECT u::text FROM api.users AS u WHERE handle = 'victim_v'")
	for _, path := range []string{"/profile", "/profile/claims", "/profile/claims/drop", "/u/" + other + "/follow", "/u/" + other + "/unfollow"} {
		want(t, b.post(path+"?"+form.Encode(), form, b.bySession()), http.StatusSeeOther, "")
		for _, table := range []string{"hub.follows", "hub.identity_claims", "hub.streamer_profiles"} {
			if n := b.number("SELECT count(*) FROM " + table + " AS t WHERE t::text LIKE '%" + victim + "%' OR t::text LIKE '%victim_v%'"); n > 0 {
				t.Errorf("POST %s: %d rows of %s name another operator", path, n, table)
			}
		}
	}
	equal(t, apitest.Get[string](b.ledger, "SELECT u::text FROM api.users AS u WHERE handle = 'victim_v'"), before)
}

// TestSignOutEndsBoth checks that signing out ends both the session and the sign-in of the developer page. A request from another
// site ends neither.
func TestSignOutEndsBoth(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	w := newBrowser(b)
	w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
	if len(w.jar) != 4 {
		t.Fatalf("%v", w.jar)
	}
	want(t, w.step(true, http.MethodPost, "/sign-out", ""), 403, "")
	equal(t, len(w.jar), 4)
	out := w.step(false, http.MethodPost, "/sign-out", "return_to=%2Fsettings%2Fapps")
	want(t, out, http.StatusSeeOther, "", "Location: /sign-in?return_to=%2Fsettings%2Fapps")
	equal(t, len(w.jar), 0)
}

// TestDeveloperPageOfAnother checks the developer page after another operator has signed in: it does not show the keys of the
// previous operator.
func TestDeveloperPageOfAnother(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	before, after := with("Cookie", "db_dev="+aPerson), with("Cookie", "db_dev="+aPerson+"; "+b.cookie)
	has(t, b.send("GET", "/dev", "", before), "Signed in as <b>@tidewatch</b>")
	has(t, b.send("GET", "/dev", "", after), "!tidewatch", "!/dev/keys\"")
	want(t, b.post("/dev/keys", url.Values{"label": {"x"}, "permission": {"read"}}, after, with("Origin", hubURL)), 401, "")
	equal(t, b.count("operator_keys"), 1)
}

// TestSignInReturnsOnlyToPages checks that a sign-in returns only to pages of the hub. Any other address is replaced by /settings/profile.
func TestSignInReturnsOnlyToPages(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for address, good := range map[string]bool{
		"/settings/apps": true, "/settings/profile": true, "/apps": false, "/dev": true, "/markets": true, "/markets?q=x": true, "/u/tide": true, "/m/701122?interval=1h": true, "/receipts/x": true,
		"/protocol/authorize?client_id=x": true, "/protocol/authorize": false, "/sign-out": false, "/u/tide/follow": false, "/u/": false, "//evil.example/u/x": false, "/u/..": false,
		"/": true, "/board?lane=tech": true, "/live": true, "/tip/tide": true, "/u/me": true, "/about": true, "//": false, "/no-such-page": false, "/live/a/b": false, "/static/app.js": false,
		"/u//evil.example": false, "https://evil.example/apps": false, "/\\evil.example": false, "/api/dev/keys": false, "/apps\r\nx: y": false, "/u/" + strings.Repeat("a", 6144): false,
	} {
		page := b.send("GET", "/sign-in?"+url.Values{"return_to": {address}}.Encode(), "").Body.String()
		_, rest, _ := strings.Cut(page, idpURL+"?")
		query, _, _ := strings.Cut(rest, `"`)
		v, err := url.ParseQuery(strings.ReplaceAll(query, "&amp;", "&"))
		if err != nil || v.Get("state") == "" || (v.Get("return_to") == hubURL+address) != good || !good && v.Get("return_to") != hubURL+"/settings/profile" {
			t.Errorf("return_to=%q: the sign-in returns to %q", address, v.Get("return_to"))
		}
	}
}

// TestHeaderSignIn checks that the link to the sign-in in the header of a page returns to that page with its query fields, without other
// text of the URL, and that the link to the calls of the visitor leads to the record of that visitor.
func TestHeaderSignIn(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	html := with("Accept", "text/html")
	link := func(back string) string { return ` href="/sign-in?` + url.Values{"return_to": {back}}.Encode() + `"` }
	for page, back := range map[string]string{
		"/": "/", "/?q=planted": "/", "/board": "/board", "/board?lane=tech&x=planted": "/board?lane=tech", "/live": "/live", "/feed?of=wire": "/feed?of=wire",
		"/search?q=ostrava%20%26+gauge": "/search?q=ostrava+%26+gauge", "/search?q=" + strings.Repeat("a", 513): "/search", "/network": "/network",
		"/compare?b=mara_k&a=tide": "/compare?a=tide&b=mara_k", "/pulse": "/pulse", "/tip/mara_k": "/tip/mara_k",
		"/markets?lane=MUSIC&sort=newest": "/markets?lane=MUSIC&sort=newest", "/u/mara_k?state=open": "/u/mara_k?state=open",
		"/m/" + marketID + "?side=NO": "/m/" + marketID + "?side=NO",
	} {
		w := b.send("GET", page, "", html)
		has(t, w, `<a class="enter"`+link(back), link("/u/me")+">My calls", "!planted")
	}
	has(t, b.send("GET", "/no-such-page", "", html), `<a class="enter" href="/sign-in"`)
	w := b.send("GET", "/u/me", "", html)
	want(t, w, http.StatusSeeOther, "", "Cache-Control: no-store")
	if to, err := url.Parse(w.Header().Get("Location")); err != nil || to.Query().Get("return_to") != hubURL+"/u/me" {
		t.Errorf("the page of the visitor leads to %s", to)
	}
	want(t, b.send("GET", "/u/me", "", html, b.bySession()), http.StatusSeeOther, "", "Location: /u/mara_k", "Cache-Control: no-store")
}

const profilePath = "/api/streamer/profile"

// TestProfile checks that a session changes the profile of its owner and of no other operator, that a key cannot change the
// payout address, and that anyone can read the profile.
func TestProfile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tide")
	read := func() string { return b.send("GET", profilePath+"?handle=mara_k", "").Body.String() }
	all := `{"displayName":"Mara K","bio":"Rivers.","avatarUrl":"https://p.example/m.png","links":["https://m.example"],"payoutAddress":"` + strings.ToLower(wallet) + `","lanes":[],"handle":"tide"}`
	w := b.send("POST", profilePath, all, b.bySession())
	golden(t, "profile_changed", w)
	equal(t, field(b.send("GET", "/api/network/payout/mara_k", ""), "payoutAddress"), wallet)
	first := b.send("GET", profilePath+"?handle=mara_k", "")
	want(t, first, 200, "", "Cache-Control: public, s-maxage=10", "!Etag: ")
	if again := b.send("GET", profilePath+"?handle=mara_k", "", with("If-None-Match", first.Header().Get("ETag"))); again.Code != http.StatusNotModified {
		t.Errorf("%d", again.Code)
	}
	want(t, b.send("POST", profilePath, `{}`, b.byKey()), 200, "")
	want(t, b.send("POST", profilePath, object("payoutAddress", wallet, "displayName", "stolen"), b.byKey()), 403, "session_required")
	equal(t, read(), first.Body.String())
	want(t, b.send("POST", profilePath, `{"avatarUrl":null,"links":[],"payoutAddress":""}`, b.bySession()), 200, "")
	if now := read(); !strings.Contains(now, `"avatarUrl":null`) || !strings.Contains(now, `"links":[]`) || !strings.Contains(now, `"bio":"Rivers."`) {
		t.Error(now)
	}
	equal(t, field(b.send("GET", "/api/network/payout/mara_k", ""), "eligible"), "false")
	has(t, b.send("GET", profilePath+"?handle=tide", ""), "!Rivers")
	want(t, b.send("GET", profilePath, ""), 400, "missing_handle")
	want(t, b.send("GET", profilePath+"?handle=no_such_user", ""), 404, "not_found")
	want(t, b.send("GET", profilePath+"?handle=..", ""), 404, "not_found")
}

func TestProfileIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, code := range map[string]string{
		`{"displayName":""}`: "invalid_display_name",
		`{"displayName":7}`:  "invalid_display_name",
		`{"displayName":"` + strings.Repeat("x", 65) + `"}`:                                   "invalid_display_name",
		`{"bio":"` + strings.Repeat("x", 281) + `"}`:                                          "invalid_bio",
		`{"avatarUrl":"http://p.example/m.png"}`:                                              "invalid_avatar_url",
		`{"avatarUrl":true}`:                                                                  "invalid_avatar_url",
		`{"links":"https://m.example"}`:                                                       "invalid_links",
		`{"links":["javascript:alert(1)"]}`:                                                   "invalid_links",
		`{"links":["https://a","https://b","https://c","https://d","https://e","https://f"]}`: "invalid_links",
		`{"payoutAddress":"0x12"}`:                                                            "invalid_payout_address",
		`{"payoutAddress":"0x52908400098527886e0F7030069857D2E4169EE7"}`:                      "invalid_payout_address",
		`{"lanes":["HOPSCOTCH"]}`:                                                             "invalid_lanes",
		`[]`:                                                                                  "invalid_body",
	} {
		want(t, b.send("POST", profilePath, body, b.bySession()), 400, code)
	}
	equal(t, b.ledger.Count("UpdateProfile"), 0)
}

// TestPayoutAddressOfAMessage checks that the message route and the profile route both reject a payout address with a wrong
// checksum and the zero address. Neither route stores anything.
func TestPayoutAddressOfAMessage(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	for _, bad := range []string{"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x" + strings.Repeat("0", 40)} {
		raw := p.write("profile.update", map[string]any{"payoutAddress": bad})
		w := b.submit(raw)
		if reason(t, w, 400, "invalid_request", message.ReasonPayload); field(w, "field") != "payoutAddress" {
			t.Errorf("%s", w.Body)
		}
		has(t, b.send("POST", messagesPath+"/verify", raw), "valid=false")
		want(t, b.send("POST", profilePath, object("payoutAddress", bad), b.bySession()), 400, "invalid_payout_address")
	}
	if n := b.number(`SELECT count(*) FROM hub.messages`); n != 0 || b.ledger.Count("UpdateProfile") != 0 {
		t.Errorf("%d messages are stored", n)
	}
}

// TestMessageCannotChangeThePayoutAddress checks that a message with a payout address is rejected and not stored, because a
// signature does not show a recent sign-in.
func TestMessageCannotChangeThePayoutAddress(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	for _, address := range []any{wallet, nil} {
		want(t, b.submit(p.write("profile.update", map[string]any{"bio": "stolen", "payoutAddress": address})), 403, "session_required")
	}
	if n := b.number(`SELECT count(*) FROM hub.messages`); n != 0 || b.ledger.Count("UpdateProfile") != 0 {
		t.Errorf("%d messages are stored", n)
	}
}

func TestBotDeclaresItself(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want(t, b.send("POST", profilePath, `{"automated":false}`, b.byKey()), 200, "")
	want(t, b.send("POST", profilePath, `{"automated":true}`, b.byKey()), 200, "")
	equal(t, b.operator("mara_k").GetOperatorType(), "ai_agent")
	equal(t, b.operator("mara_k").GetTier(), "automated")
	want(t, b.send("POST", profilePath, `{"automated":true}`, b.bySession()), 200, "")
	want(t, b.send("POST", profilePath, `{"automated":false,"bio":"a person"}`, b.bySession()), 403, "forbidden")
	want(t, b.send("POST", profilePath, `{"automated":"yes"}`, b.byKey()), 400, "invalid_automated")
	equal(t, b.operator("mara_k").GetOperatorType(), "ai_agent")
	equal(t, b.operator("mara_k").GetBio(), "")
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"mara_k","operatorType":"human"}`, byAdmin()), 200, "")
	equal(t, b.operator("mara_k").GetOperatorType(), "human")
}

// TestFormSize checks that the answer to a form that is too large names the bound.
func TestFormSize(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	large := url.Values{"bio": {strings.Repeat("x", 16<<10)}}
	for _, path := range []string{"/profile", "/report", callPost} {
		want(t, b.post(path, large, b.bySession()), 400, "", "The form has more than 16 KiB. Shorten its texts.")
	}
}
