package edge_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/auth/privy", `{"handle":"hub"}`, byLogin("tidewatch"))
	golden(t, "session/first", w)
	golden(t, "session/again", b.send("POST", "/api/auth/privy", "", byLogin("tidewatch")))
	cookies := map[string]*http.Cookie{}
	for _, c := range w.Result().Cookies() {
		cookies[c.Name] = c
		if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge != 30*24*3600 || c.Domain != "" {
			t.Errorf("cookie %v", c)
		}
	}
	if len(cookies) != 3 || cookies["db_uid"] == nil || cookies["db_sig"] == nil || cookies["__Host-db_bind"] == nil {
		t.Fatalf("cookies %v", cookies)
	}
	id, issued, ok := strings.Cut(cookies["db_uid"].Value, ".")
	if !ok || id == "" || issued != "1789732800.0" {
		t.Errorf("db_uid is %q", cookies["db_uid"].Value)
	}
	jar := func(r *http.Request) {
		r.AddCookie(cookies["db_uid"])
		r.AddCookie(cookies["db_sig"])
		r.AddCookie(cookies["__Host-db_bind"])
		r.Header.Set("Origin", hubURL)
	}
	want(t, b.send("POST", "/api/predictions", fullDraft, jar), 200, "")
	want(t, b.send("POST", "/api/auth/privy", `{"handle":`, byLogin("x")), 400, "invalid_body")
}

func TestCookiesWithoutTLS(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *edge.Config, _ *edge.Deps) { c.Secure = false })
	for _, c := range b.send("POST", "/api/auth/privy", "", byLogin("x")).Result().Cookies() {
		if c.Secure {
			t.Errorf("cookie %v", c)
		}
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		headers []header
		status  int
	}{
		"our page":             {[]header{b.bySession()}, 200},
		"nobody":               {nil, 200},
		"a stale pair":         {[]header{with("Cookie", "db_uid=x; db_sig=y")}, 200},
		"a foreign page":       {[]header{with("Cookie", b.cookie), with("Origin", "https://evil.example")}, 403},
		"no word of origin":    {[]header{with("Cookie", b.cookie)}, 403},
		"a bearer of any kind": {[]header{b.byKey()}, 401},
	} {
		w := b.send("DELETE", "/api/auth/privy", "", c.headers...)
		if w.Code != c.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		gone := 0
		for _, c := range w.Result().Cookies() {
			if c.MaxAge < 0 && c.Value == "" {
				gone++
			}
		}
		if (gone == 3) != (c.status == 200) {
			t.Errorf("%s: %d cookies cleared", name, gone)
		}
	}
}

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cookie := with("Cookie", b.cookie)
	for name, c := range map[string]struct {
		headers []header
		ok      bool
	}{
		"our origin":              {[]header{with("Origin", hubURL)}, true},
		"the host that was asked": {[]header{with("Origin", "http://example.com")}, false}, // httptest asks example.com
		"another scheme":          {[]header{with("Origin", "http://hub.example"), toHost("hub.example")}, false},
		"fetch says so":           {[]header{with("Sec-Fetch-Site", "same-origin")}, true},
		"neither":                 {nil, false},
		"null":                    {[]header{with("Origin", "null")}, false},
		"empty":                   {[]header{with("Origin", "")}, false},
		"evil":                    {[]header{with("Origin", "https://evil.example")}, false},
		"evil that says same":     {[]header{with("Origin", "https://evil.example"), with("Sec-Fetch-Site", "same-origin")}, false},
		"two":                     {[]header{with("Origin", hubURL), with("Origin", "https://evil.example")}, false},
		"a longer name":           {[]header{with("Origin", hubURL+".evil.example")}, false},
		"same site":               {[]header{with("Sec-Fetch-Site", "same-site")}, false},
		"cross site":              {[]header{with("Sec-Fetch-Site", "cross-site")}, false},
		"typed by hand":           {[]header{with("Sec-Fetch-Site", "none")}, false},
	} {
		w := b.send("POST", "/api/predictions", `{}`, append(c.headers, cookie)...)
		if got := field(w, "error"); c.ok && got != "missing_market_id" || !c.ok && got != "forbidden" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	want(t, b.send("GET", "/api/m/701122/crowd", "", cookie), 200, "")
}

// toHost sends the request to another name.
func toHost(host string) header { return func(r *http.Request) { r.Host = host } }

func TestSessionVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 400, "")
	b.ledger.Lock()
	b.ledger.Operators[b.mara.GetId()].SessionVersion++
	b.ledger.Unlock()
	want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 401, "unauthenticated")
	w := b.send("GET", "/api/m/701122/crowd", "", b.bySession())
	if w.Code != 200 || w.Header().Get("Cache-Control") != "public, s-maxage=10" {
		t.Errorf("a void session on a public read: %d %v", w.Code, w.Header())
	}
}

// TestSessionInDoubt: while nobody can judge a session, its owner's own call is
// missing from the crowd; the answer says so and is not kept.
func TestSessionInDoubt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setBefore(func(_ context.Context, method string) error {
		if method == "GetOperator" {
			return memledger.ErrDB
		}
		return nil
	})
	w := b.send("GET", "/api/m/701122/crowd", "", b.bySession())
	if w.Code != 200 || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Degraded") != "db" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := b.send("GET", "/api/m/701122/crowd", ""); w.Header().Get("X-Degraded") != "" {
		t.Errorf("without a session: %v", w.Header())
	}
}

func TestSessionAge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Advance(30*24*time.Hour + time.Second)
	w := b.send("POST", "/api/predictions", `{}`, b.bySession())
	want(t, w, 401, "unauthenticated")
	if w.Header().Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("headers %v", w.Header())
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := byLogin("tidewatch")
	minted := b.send("POST", "/api/dev/keys", `{"label":"overlay bot","permissions":["signal","read"]}`, me)
	golden(t, "keys/minted", minted)
	golden(t, "keys/whoami", b.send("GET", "/api/dev/whoami", "", me))
	key, id := field(minted, "key"), field(minted, "id")
	want(t, b.send("POST", "/api/predictions", fullDraft, with("Authorization", "Bearer "+key)), 200, "")
	list := b.send("GET", "/api/dev/keys", "", me)
	golden(t, "keys/list", list)
	if strings.Contains(list.Body.String(), key) {
		t.Error("the list shows a plaintext")
	}
	want(t, b.send("DELETE", "/api/dev/keys?id="+id, "", byLogin("mara_k")), 404, "not_found")
	want(t, b.send("DELETE", "/api/dev/keys?id=7", "", me), 404, "not_found")
	want(t, b.send("DELETE", "/api/dev/keys", "", me), 400, "missing_id")
	golden(t, "keys/revoked", b.send("DELETE", "/api/dev/keys?id="+id, "", me))
	want(t, b.send("DELETE", "/api/dev/keys?id="+strings.ToUpper(id), "", me), 200, "")
	want(t, b.send("POST", "/api/predictions", fullDraft, with("Authorization", "Bearer "+key)), 401, "unauthenticated")
	for body, code := range map[string]string{
		`{}`: "missing_label", `{"label":""}`: "missing_label", `{"label":7}`: "invalid_label",
		`{"label":"` + strings.Repeat("l", 65) + `"}`:   "invalid_label",
		`{"label":"x","permissions":[]}`:                "invalid_permissions",
		`{"label":"x","permissions":["admin"]}`:         "invalid_permissions",
		`{"label":"x","permissions":["read","read"]}`:   "invalid_permissions",
		`{"label":"x","permissions":"read"}`:            "invalid_permissions",
		`{"label":"x","permissions":["a","b","c","d"]}`: "invalid_permissions",
	} {
		want(t, b.send("POST", "/api/dev/keys", body, me), 400, code)
	}
	for range 10 {
		want(t, b.send("POST", "/api/dev/keys", `{"label":"x"}`, me), 201, "")
	}
	want(t, b.send("POST", "/api/dev/keys", `{"label":"x"}`, me), 409, "key_limit_reached")
}

// credentials of every kind, good ones unless the name says otherwise.
func (b *bench) credentials() map[string][]header {
	return map[string][]header{
		"none":                   nil,
		"key":                    {b.byKey()},
		"unknown key":            {with("Authorization", "Bearer dk_"+strings.Repeat("A", 43))},
		"broken key":             {with("Authorization", "Bearer dk_short")},
		"app token":              {with("Authorization", "Bearer dat_abcdef")},
		"jwt":                    {byLogin("mara_k")},
		"forged jwt":             {with("Authorization", "Bearer jwt.mara_k.gis")},
		"basic":                  {with("Authorization", "Basic bWFyYTpr")},
		"session":                {b.bySession()},
		"bad session":            {with("Cookie", "db_uid=a.1.0; db_sig=bbbb"), with("Origin", hubURL)},
		"admin":                  {byAdmin()},
		"wrong admin":            {with("X-Admin-Secret", "wrong")},
		"cron":                   {with("X-Test-Query", "secret="+cronSecret)},
		"admin as cron":          {with("X-Test-Query", "secret="+adminSecret)},
		"key and session":        {b.byKey(), b.bySession()},
		"bad bearer and session": {with("Authorization", "Bearer dk_short"), b.bySession()},
		"x-api-key":              {with("X-Api-Key", b.key)},
		"key in query":           {with("X-Test-Query", "key="+b.key)},
	}
}

// TestCallerMatrix tries every credential on every route. A route lets in the
// kinds that its line takes and answers the rest 401, or 403 for a secret
// that is wrong.
func TestCallerMatrix(t *testing.T) {
	t.Parallel()
	admits := map[string][]string{ // who → credentials that get past the guard
		"public":  {"none", "session", "bad session", "admin", "wrong admin", "cron", "admin as cron", "x-api-key", "key in query"},
		"key":     {"key", "key and session"},
		"session": {"session"},
		"jwt":     {"jwt"},
		"admin":   {"admin"},
		"cron":    {"cron"},
		// An app may prove itself in the body, so a header that is no bearer comes as far.
		"client": {"none", "session", "bad session", "admin", "wrong admin", "cron", "admin as cron", "x-api-key", "key in query", "basic"},
	}
	forbidden := map[string][]string{ // who → credentials answered 403
		"admin": {"wrong admin"},
		"cron":  {"admin as cron"},
	}
	rest := setup(t).server.Table()
	cells := 0
	for _, route := range rest {
		if route.Path == "/healthz" || route.Path == "/readyz" || strings.HasPrefix(route.Path, "/api/channel") {
			continue // these look at nobody
		}
		b := setup(t)
		for name, headers := range b.credentials() {
			wantIn, want403 := false, false
			for _, who := range route.Who {
				wantIn = wantIn || contains(admits[who], name)
				want403 = want403 || contains(forbidden[who], name)
			}
			b.clock.Advance(time.Minute) // ten failures a minute close the admin routes
			w := b.matrixCall(route.Method, route.Path, headers)
			// Who is told that no admin has approved them was let in before.
			in := w.Code != http.StatusUnauthorized && (w.Code != http.StatusForbidden || field(w, "error") == "not_approved")
			switch {
			case wantIn && !in, !wantIn && in:
				t.Errorf("%s %s with %s: %d %s", route.Method, route.Path, name, w.Code, w.Body)
			case !wantIn && want403 != (w.Code == http.StatusForbidden):
				t.Errorf("%s %s with %s: %d, want 403: %v", route.Method, route.Path, name, w.Code, want403)
			}
			cells++
		}
	}
	t.Logf("%d cells", cells)
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// matrixCall asks a route with ids that name nothing, so that no cell changes
// what the next one meets.
func (b *bench) matrixCall(method, path string, headers []header) *httptest.ResponseRecorder {
	target := strings.NewReplacer(":id", "0199f0a4-0000-7000-8000-00000000ffff", ":marketId", "999").Replace(path)
	r := httptest.NewRequest(method, target, nil)
	for _, h := range headers {
		h(r)
	}
	if q := r.Header.Get("X-Test-Query"); q != "" {
		r.URL.RawQuery = q
	}
	w := httptest.NewRecorder()
	b.server.ServeHTTP(w, r)
	return w
}
