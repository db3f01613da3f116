package edge_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// TestHeadOfPages: a page that everybody gets alike is no other's when somebody is
// signed in.
func TestHeadOfPages(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	for _, path := range []string{"/m/" + marketID, "/markets", "/u/mara_k"} {
		out, in := b.send("GET", path, ""), b.send("GET", path, "", b.bySession())
		if out.Code != 200 || strings.Contains(out.Body.String(), "/sign-out") || !strings.Contains(out.Body.String(), `class="enter"`) ||
			!strings.HasPrefix(out.Header().Get("Cache-Control"), "public") {
			t.Errorf("%s for nobody: %d %v", path, out.Code, out.Header())
		}
		if in.Code != 200 || !strings.Contains(in.Body.String(), "Signed in as <b>@mara_k</b>") || in.Header().Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s for somebody: %d %v", path, in.Code, in.Header())
		}
		for _, w := range []string{strings.Join(out.Header().Values("Vary"), ","), strings.Join(in.Header().Values("Vary"), ",")} {
			if !strings.Contains(w, "Cookie") {
				t.Errorf("%s varies by %s", path, w)
			}
		}
	}
	b.clock.Advance(time.Hour) // what was known of the session is old
	b.setBefore(func(_ context.Context, method string) error {
		if method == "GetOperator" {
			return memledger.ErrDB
		}
		return nil
	})
	if w := b.send("GET", "/markets", "", b.bySession()); w.Code != 200 || strings.Contains(w.Body.String(), "mara_k") || w.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("whoever cannot be told: %d %v", w.Code, w.Header())
	}
}

// TestFormsOfPeople: none of them works for nobody, from elsewhere, or for another one.
func TestFormsOfPeople(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	b.ledger.AddOperator("tide")
	forms := map[string]url.Values{
		"/profile": {"displayName": {"Evil"}}, "/profile/claims": {"address": {wallet}}, "/profile/claims/drop": {"station": {"partner"}},
		"/u/tide/follow": {}, "/u/tide/unfollow": {},
	}
	for path, form := range forms {
		for name, c := range map[string]struct {
			headers []header
			status  int
		}{
			"nobody":       {[]header{with("Origin", hubURL)}, 401},
			"another site": {[]header{with("Cookie", b.cookie), with("Origin", "https://evil.example")}, 403},
			"no origin":    {[]header{with("Cookie", b.cookie)}, 403},
			"a frame":      {[]header{with("Cookie", b.cookie), with("Origin", "null"), with("Sec-Fetch-Site", "cross-site")}, 403},
		} {
			if w := b.post(path, form, c.headers...); w.Code != c.status {
				t.Errorf("%s, %s: %d", path, name, w.Code)
			}
		}
	}
	if n := b.ledger.Count("UpdateProfile"); n != 0 || len(b.people.follows) != 0 || len(b.people.claims) != 0 {
		t.Errorf("something was done: %d %v %v", n, b.people.follows, b.people.claims)
	}
	if w := b.post("/u/mara_k/follow", url.Values{}, b.bySession()); w.Code != 400 {
		t.Errorf("oneself: %d", w.Code)
	}
	if w := b.post("/u/nobody/follow", url.Values{}, b.bySession()); w.Code != 404 {
		t.Errorf("nobody: %d", w.Code)
	}
	if w := b.post("/u/tide/follow", url.Values{}, b.bySession()); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/u/tide" || len(b.people.follows) != 1 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w := b.post("/profile", url.Values{"displayName": {"Mara"}, "bio": {"a\r\nb"}, "links": {"https://a.example\r\nhttps://b.example"}}, b.bySession())
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/profile?done=saved" || b.mara.GetBio() != "a\nb" || len(b.mara.GetLinks()) != 2 {
		t.Errorf("%d %v %q %v", w.Code, w.Header(), b.mara.GetBio(), b.mara.GetLinks())
	}
	w = b.post("/profile", url.Values{"displayName": {strings.Repeat("x", 65)}, "bio": {"kept as it was typed"}}, b.bySession())
	if page := w.Body.String(); w.Code != 400 || !strings.Contains(page, `aria-invalid="true"`) || !strings.Contains(page, "kept as it was typed") || !strings.Contains(page, "1 to 64 characters") {
		t.Errorf("%d %s", w.Code, page)
	}
}

// TestClaimOnThePage: a claim needs the word of the provider, and says what is missing.
func TestClaimOnThePage(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	claim := func(address string) (int, string) {
		w := b.post("/profile/claims", url.Values{"address": {address}}, b.bySession())
		return w.Code, w.Body.String()
	}
	if code, page := claim("0x12"); code != 400 || !strings.Contains(page, "40 hex digits") || !strings.Contains(page, `value="0x12"`) {
		t.Errorf("%d %s", code, page)
	}
	if code, page := claim(wallet); code != 403 || !strings.Contains(page, "does not know this wallet") {
		t.Errorf("%d %s", code, page)
	}
	b.people.linked[b.mara.GetProviderId()] = []string{wallet}
	if code, page := claim(wallet); code != http.StatusSeeOther {
		t.Errorf("%d %s", code, page)
	}
	for _, path := range []string{"/profile", "/u/mara_k"} {
		if page := b.send("GET", path, "", b.bySession()).Body.String(); !strings.Contains(page, wallet) {
			t.Errorf("%s does not show the wallet", path)
		}
	}
	if w := b.post("/profile/claims/drop", url.Values{"station": {"partner"}}, b.bySession()); w.Code != http.StatusSeeOther || len(b.people.claims[operator.ID(b.mara.GetId())]) != 0 {
		t.Errorf("%d %v", w.Code, b.people.claims)
	}
}

// TestSignOutEndsBoth: the session and the sign-in of the developer page end together,
// by our own pages alone.
func TestSignOutEndsBoth(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	w := newBrowser(b)
	w.visit(true, http.MethodPost, "/dev/session", back(aPerson, w.begin()))
	if len(w.jar) != 4 {
		t.Fatalf("%v", w.jar)
	}
	if out := w.step(true, http.MethodPost, "/sign-out", ""); out.Code != 403 || len(w.jar) != 4 {
		t.Errorf("from elsewhere: %d %v", out.Code, w.jar)
	}
	out := w.step(false, http.MethodPost, "/sign-out", "return_to=%2Fapps")
	if out.Code != http.StatusSeeOther || out.Header().Get("Location") != "/sign-in?return_to=%2Fapps" || len(w.jar) != 0 {
		t.Errorf("%d %v %v", out.Code, out.Header(), w.jar)
	}
}

// TestDeveloperPageOfAnother: who has signed in since does not see the keys of the one
// before.
func TestDeveloperPageOfAnother(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	before, since := with("Cookie", "db_dev="+aPerson), with("Cookie", "db_dev="+aPerson+"; "+b.cookie)
	if page := b.send("GET", "/dev", "", before).Body.String(); !strings.Contains(page, "Signed in as <b>@tidewatch</b>") {
		t.Error(page)
	}
	if page := b.send("GET", "/dev", "", since).Body.String(); strings.Contains(page, "tidewatch") || strings.Contains(page, "/dev/keys\"") {
		t.Error(page)
	}
	if w := b.post("/dev/keys", url.Values{"label": {"x"}, "permission": {"read"}}, since, with("Origin", hubURL)); w.Code != 401 || len(b.ledger.Keys) != 1 {
		t.Errorf("%d", w.Code)
	}
}

// TestAddressesOfASignIn: it may lead back to pages of ours and to nothing else.
func TestAddressesOfASignIn(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	for address, good := range map[string]bool{
		"/apps": true, "/profile": true, "/dev": true, "/markets": true, "/markets?q=x": true, "/u/tide": true, "/m/701122?interval=1h": true, "/receipts/x": true,
		"/protocol/authorize?client_id=x": true, "/protocol/authorize": false, "/sign-out": false, "/u/tide/follow": false, "/u/": false, "//evil.example/u/x": false, "/u/..": false,
		"/u//evil.example": false, "https://evil.example/apps": false, "/\\evil.example": false, "/api/dev/keys": false, "/apps\r\nx: y": false, "/u/" + strings.Repeat("a", 6144): false,
	} {
		page := b.send("GET", "/sign-in?"+url.Values{"return_to": {address}}.Encode(), "").Body.String()
		_, rest, _ := strings.Cut(page, idpURL+"?")
		query, _, _ := strings.Cut(rest, `"`)
		v, err := url.ParseQuery(strings.ReplaceAll(query, "&amp;", "&"))
		if err != nil || v.Get("state") == "" || (v.Get("return_to") == hubURL+address) != good || !good && v.Get("return_to") != hubURL+"/profile" {
			t.Errorf("%q leads back to %q", address, v.Get("return_to"))
		}
	}
}
