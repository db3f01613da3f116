package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	phoneWidth, phoneHeight     = 390, 844
	desktopWidth, desktopHeight = 1280, 900
)

// example is a call worth a picture: a NO that won, with a take and a history.
func (s *stack) example(t *testing.T) (market, id string) {
	t.Helper()
	market = s.native(t, 3150, obj{
		"question": "Will the Ostrava gauge read above 6 m before 1 December?", "resolutionSource": "https://records.example/gauge",
		"description": "Decided by the reading of the hydrological office at noon.\nA tie is a NO.",
	})
	p := s.named(t, "mara_k")
	id = p.call(t, market, "NO", 6850, obj{"confidence": 70, "textTake": "The upper gauges are falling and the dam opened at noon. Six metres is not coming."})
	for range 4 {
		s.person(t).call(t, market, "NO", 7000)
	}
	url := s.Hub + "/api/signals/" + id + "/events"
	post(t, url, p.auth(t), payload(obj{"type": "confidence", "payload": obj{"confidence": 85}})).is(http.StatusCreated)
	post(t, url, p.auth(t), payload(obj{"type": "take", "payload": obj{"text": "5.61 m and falling. Rain has stopped.", "url": "https://records.example/gauge/live"}})).is(http.StatusCreated)
	post(t, s.Hub+"/api/resolution/finalize", s.admin(), payload(obj{
		"marketId": market, "verdict": "NO", "reason": "peak 5.61 m", "source": "gauge office", "proofUrl": "https://records.example/gauge/2026-12-01",
	})).is(http.StatusOK)
	return market, id
}

// TestReceiptAndMarketPages on a phone and on a desk.
func TestReceiptAndMarketPages(t *testing.T) {
	t.Parallel()
	s := up(t)
	market, id := s.example(t)
	long := s.native(t, 5000, obj{"question": strings.Repeat("Donaudampfschifffahrtsgesellschaft", 5) + "?"})
	wide := s.person(t).call(t, long, "YES", 5000, obj{"textTake": strings.Repeat("W", 500), "confidence": 1})
	disputed := s.venue(t, 0.5)
	open1 := s.person(t).call(t, disputed, "YES", 5000)
	post(t, s.Hub+"/api/resolution/dispute", s.admin(), payload(obj{"marketId": disputed, "reason": strings.Repeat("why ", 100)})).is(http.StatusOK)
	for _, size := range [][2]int64{{phoneWidth, phoneHeight}, {desktopWidth, desktopHeight}} {
		b := open(t, size[0], size[1])
		b.visit(s.Hub+"/receipts/"+id, http.StatusOK)
		shows(t, b, "main", "Ostrava gauge", "NO", "68.5¢", "+31", "Won", "The upper gauges are falling", "@mara_k", "31.5% YES", "70 of 100", "85 of 100", "gauge office", "5.61 m and falling", id)
		b.fits("the receipt")
		b.clean("the receipt")
		if size[0] == desktopWidth && *updatePictures {
			picture(t, b, "receipt.png")
		}
		b.press("h1 a", "article.market")
		b.whole("/m/" + market)
		shows(t, b, "main", "Ostrava gauge", "Resolved NO", "@mara_k", "+31", "Crowd, 5 calls 0%", "Signalcast", "manual, gauge office")
		b.fits("the market")
		b.clean("the market")
		for _, path := range []string{"/receipts/" + wide, "/m/" + long, "/receipts/" + open1, "/m/" + disputed} {
			b.visit(s.Hub+path, http.StatusOK)
			b.fits(path)
			b.clean(path)
		}
		b.whole("/m/" + disputed)
		shows(t, b, "main", "Disputed: why why")
		b.visit(s.Hub+"/", http.StatusOK) // leads to /dev
		shows(t, b, "main", "Operator keys")
		b.fits("the developer page")
		b.clean("the developer page")
		for _, path := range []string{"/receipts/0199f0a4-0000-7000-8000-00000000ffff", "/receipts/nope", "/m/nope", "/m/native-0123456789abcdef"} {
			missing := open(t, size[0], size[1])
			missing.visit(s.Hub+path, http.StatusNotFound)
			shows(t, missing, "main", "404")
			missing.fits(path)
		}
	}
	json := get(t, s.Hub+"/receipts/"+id, with("Accept", "application/json")).is(http.StatusOK)
	json.has(obj{"id": id, "status": "won", "resolution.outcome": "NO", "events.0.type": "confidence"})
	get(t, s.Hub+"/receipts/0199f0a4-0000-7000-8000-00000000ffff", with("Accept", "application/json")).fails(http.StatusNotFound, "not_found")
	headersOfPages(t, s, "/receipts/"+id, "/m/"+market, "/markets", "/markets?q=gauge&lane=science", "/dev", "/u/mara_k", "/sign-in")
}

// styled finds an element with a style of its own; what people write into a quoted
// attribute or into text is none.
var styled = regexp.MustCompile(`(?i)<[a-z][a-z0-9-]*(?:\s+[^\s=>"]+(?:="[^"]*")?)*?\s+style=`)

// headersOfPages holds the pages to their policy.
func headersOfPages(t *testing.T, s *stack, paths ...string) {
	t.Helper()
	for _, path := range paths {
		a := get(t, s.Hub+path).is(http.StatusOK)
		policy := a.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: no %s in %q", path, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") || a.header.Get("X-Frame-Options") != "DENY" || !strings.Contains(a.header.Get("Vary"), "Accept") {
			t.Errorf("%s: %v", path, a.header)
		}
		if strings.Contains(strings.ToLower(string(a.body)), "<script") || styled.Match(a.body) {
			t.Errorf("%s has a script or a style of its own", path)
		}
	}
}

func shows(t testing.TB, b *tab, selector string, words ...string) {
	t.Helper()
	text := strings.Join(strings.Fields(b.text(selector)), " ")
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			t.Errorf("it does not show %q:\n%s", w, text)
		}
	}
}

// picture writes what the tab shows to the docs.
func picture(t *testing.T, b *tab, name string) {
	t.Helper()
	png := ask(b, "take a picture", chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(repo, "docs/img", name), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDeveloperPage: sign in by hand, mint a key, see it once, revoke it.
func TestDeveloperPage(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.native(t, 5000)
	b := open(t, desktopWidth, desktopHeight)
	b.visit(s.Hub+"/dev", http.StatusOK)
	b.press(`a.button`, `button[value="carol"]`)
	b.press(`button[value="carol"]`, `form[action$="/dev/session"] button`)
	b.press(`form[action$="/dev/session"] button`, `form.mint`)
	if at := ask(b, "where", chromedp.Location()); at != s.Hub+"/dev" {
		t.Errorf("back at %s", at)
	}
	shows(t, b, "main", "Signed in as @carol", "No keys yet")
	b.fits("signed in")

	b.do("write a label", chromedp.SendKeys(chromedp.CSS(`input[name="label"]`), "night desk <b>bot</b>"))
	b.press(`form.mint button`, `section.fresh`)
	key := strings.TrimSpace(b.text("section.fresh code"))
	if !strings.HasPrefix(key, "dk_") || len(key) != 46 {
		t.Fatalf("the page shows %d characters as a key", len(key))
	}
	shows(t, b, "table", "night desk <b>bot</b>", "read, signal, broadcast", "never")
	b.fits("with a key")
	call := payload(obj{"marketId": market, "direction": "YES", "priceAtPrediction": 5000})
	id := post(t, s.Hub+"/api/predictions", bearer(key), call).is(http.StatusOK).str("id")
	s.signal(t, id).has(obj{"callsign": "carol"})

	b.visit(s.Hub+"/dev", http.StatusOK)
	page := ask(b, "read the page", chromedp.OuterHTML(chromedp.CSS("html")))
	if strings.Contains(page, key) || strings.Contains(page, key[3:]) {
		t.Error("the key is shown again")
	}
	shows(t, b, "main", "night desk <b>bot</b>")
	b.press(`tbody form button`, `tr.off`)
	shows(t, b, "tr.off", "revoked")
	post(t, s.Hub+"/api/predictions", bearer(key), call).fails(http.StatusUnauthorized, "unauthenticated")

	b.leave()
	b.visit(s.Hub+"/dev", http.StatusOK)
	if strings.Contains(b.text("main"), "carol") {
		t.Error("the sign-out left the developer page open")
	}
	b.clean("the developer page")
}

// TestDeveloperPageByName: who opens his own machine by name is led to the address
// that the sign-in comes back to.
func TestDeveloperPageByName(t *testing.T) {
	t.Parallel()
	s := up(t)
	a := get(t, strings.Replace(s.Hub, "//127.0.0.1:", "//localhost:", 1)+"/dev").is(http.StatusFound)
	if at := a.header.Get("Location"); at != s.Hub+"/dev" {
		t.Errorf("led to %s", at)
	}
}

// TestDeveloperSignInFromAnotherSite: the provider's page has another name than ours
// and is another site to the browser, as it is outside a developer's machine.
func TestDeveloperSignInFromAnotherSite(t *testing.T) {
	t.Parallel()
	s := up(t)
	b := open(t, desktopWidth, desktopHeight)
	b.visit(s.Hub+"/dev", http.StatusOK)
	login := ask(b, "the way to the provider", chromedp.Evaluate[string](`document.querySelector("a.button").href`))
	foreign := strings.Replace(login, "//127.0.0.1:", "//localhost:", 1)
	if foreign == login {
		t.Fatalf("the provider is at %s", login)
	}
	b.visit(foreign, http.StatusOK)
	b.press(`button[value="dave"]`, `form[action$="/dev/session"] button`)
	b.press(`form[action$="/dev/session"] button`, `form.mint`)
	if at := ask(b, "where", chromedp.Location()); at != s.Hub+"/dev" {
		t.Errorf("back at %s", at)
	}
	shows(t, b, "main", "Signed in as @dave")
	b.clean("the way back")
}

// TestDeveloperForms: none of its forms works from anywhere else, and no sign-in
// is taken that did not begin on the page.
func TestDeveloperForms(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	form := func(body string) option {
		return func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			payload(body)(r)
		}
	}
	// The provider's form is taken from anywhere and believed by nobody: its token
	// waits for the state of a sign-in that began in the same browser.
	post(t, s.Hub+"/dev/session", form("token="+p.token+"&state=")).is(http.StatusForbidden)
	post(t, s.Hub+"/dev/session", form("token=not+a+token&state=x")).is(http.StatusUnauthorized)
	on := post(t, s.Hub+"/dev/session", with("Origin", "https://evil.example"), form("token="+p.token+"&state=x")).is(http.StatusSeeOther)
	if on.header.Get("Location") != "/dev/session?state=x" || strings.Contains(strings.Join(on.header.Values("Set-Cookie"), ";"), "db_dev=") {
		t.Errorf("leads on with %v", on.header)
	}
	next := "db_dev_next=" + p.token
	get(t, s.Hub+"/dev/session?state=made-up", with("Cookie", next)).is(http.StatusForbidden)
	get(t, s.Hub+"/dev/session?state=made-up", with("Cookie", next+"; db_dev_state=x")).is(http.StatusForbidden)
	get(t, s.Hub+"/dev/session?state=", with("Cookie", next+"; db_dev_state=")).is(http.StatusForbidden)
	get(t, s.Hub+"/dev/session?state=x", with("Cookie", "db_dev_next=nonsense; db_dev_state=x")).is(http.StatusUnauthorized)
	in := get(t, s.Hub+"/dev/session?state=x", with("Cookie", next+"; db_dev_state=x")).is(http.StatusSeeOther)
	if in.header.Get("Location") != "/dev" {
		t.Errorf("leads to %q", in.header.Get("Location"))
	}
	cookie := with("Cookie", "db_dev="+p.token)
	for _, path := range []string{"/dev/keys", "/dev/keys/revoke", "/sign-out", "/dev/apps", "/dev/apps/change", "/dev/apps/secret", "/dev/apps/disable", "/dev/signers/revoke"} {
		for _, from := range []option{with("Origin", strings.Replace(s.Hub, "http:", "https:", 1)), with("Origin", "https://evil.example"), with("Origin", "null"), with("Sec-Fetch-Site", "cross-site"), with("Sec-Fetch-Site", "same-site")} {
			post(t, s.Hub+path, cookie, from, form("label=x&id=0199f0a4-0000-7000-8000-00000000ffff")).is(http.StatusForbidden)
		}
	}
	post(t, s.Hub+"/dev/keys", with("Origin", s.Hub), form("label=x")).is(http.StatusUnauthorized)
	post(t, s.Hub+"/dev/keys", cookie, with("Origin", s.Hub), form("label=")).is(http.StatusBadRequest)
	post(t, s.Hub+"/dev/keys", cookie, with("Origin", s.Hub), form("label="+strings.Repeat("x", 65))).is(http.StatusBadRequest)
	post(t, s.Hub+"/dev/keys", cookie, with("Origin", s.Hub), form("label=x&permission=fly")).is(http.StatusBadRequest)
	post(t, s.Hub+"/dev/keys", cookie, with("Origin", s.Hub), form("label=%zz")).is(http.StatusBadRequest)
	post(t, s.Hub+"/dev/keys/revoke", cookie, with("Origin", s.Hub), form("id=nope")).is(http.StatusNotFound)
	if n := len(get(t, s.Hub+"/api/dev/keys", p.login()).is(http.StatusOK).list("keys")); n != 0 {
		t.Errorf("%d keys were minted", n)
	}
}
