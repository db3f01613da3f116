package httpapi_test

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/auth/privy", `{"handle":"hub"}`, byLogin("tidewatch"))
	const drawn = "0199f0f0-0000-7000-8000-000000000004" // replaces the random id of the ledger
	golden(t, "session/first", renamed(w, b.operator("tidewatch").GetId(), drawn))
	golden(t, "session/again", renamed(b.send("POST", "/api/auth/privy", "", byLogin("tidewatch")), b.operator("tidewatch").GetId(), drawn))
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

func TestSignOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		headers []header
		status  int
	}{
		"a page of the hub":    {[]header{b.bySession()}, 200},
		"no credential":        {nil, 200},
		"a stale pair":         {[]header{with("Cookie", "db_uid=x; db_sig=y")}, 200},
		"a foreign page":       {[]header{with("Cookie", b.cookie), with("Origin", "https://evil.example")}, 403},
		"no Origin header":     {[]header{with("Cookie", b.cookie)}, 403},
		"a bearer of any kind": {[]header{b.byKey()}, 401},
	} {
		w := b.send("DELETE", "/api/auth/privy", "", c.headers...)
		want(t, w, c.status, "")
		cleared := 0
		for _, c := range w.Result().Cookies() {
			if c.MaxAge < 0 && c.Value == "" {
				cleared++
			}
		}
		if (cleared == 3) != (c.status == 200) {
			t.Errorf("%s: %d cookies cleared", name, cleared)
		}
	}
}

// toHost sets the Host header of a request.
func toHost(host string) header { return func(r *http.Request) { r.Host = host } }

func TestSessionVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 400, "")
	b.ledger.Exec(`UPDATE users SET session_version = session_version + 1 WHERE handle = 'mara_k'`)
	want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 401, "unauthenticated")
	want(t, b.send("GET", "/api/m/701122/crowd", "", b.bySession()), 200, "", "Cache-Control: public, s-maxage=10")
}

// TestSessionThatCannotBeChecked checks the crowd while the ledger cannot verify the session. The answer lacks the call of the
// caller, is degraded, and is not cacheable.
func TestSessionThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Fail(apitest.ErrDB, "GetOperator")
	want(t, b.send("GET", "/api/m/701122/crowd", "", b.bySession()), 200, "", "Cache-Control: no-store", "X-Degraded: db")
	has(t, b.send("GET", "/api/m/701122/crowd", ""), "X-Degraded: ")
}

func TestSessionAge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Advance(30*24*time.Hour + time.Second)
	want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 401, "unauthenticated", "Www-Authenticate: Bearer")
}

// TestUseRenewsCookies checks that the first use of a session after an hour sets its cookies again, on every kind of route.
func TestUseRenewsCookies(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for _, target := range []string{ownClaims, "/api/m/701122/crowd", "/settings/profile", "/markets"} {
		b.clock.Advance(time.Hour)
		renewed := b.send("GET", target, "", b.bySession())
		if renewed.Code != 200 || !strings.Contains(renewed.Header().Get("Cache-Control"), "no-store") {
			t.Errorf("%s: %d, %q", target, renewed.Code, renewed.Header().Get("Cache-Control"))
		}
		for _, c := range renewed.Result().Cookies() {
			if !strings.Contains(b.cookie, c.Name+"="+c.Value) || c.MaxAge != int(caller.SessionLife/time.Second) {
				t.Errorf("%s renewed the cookie %s", target, c)
			}
		}
		if n := len(renewed.Result().Cookies()); n != 3 {
			t.Errorf("%s renewed %d cookies, want 3", target, n)
		}
		if again := b.send("GET", target, "", b.bySession()); len(again.Result().Cookies()) != 0 {
			t.Errorf("%s renewed the cookies again at once", target)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := byLogin("tidewatch")
	minted := b.send("POST", "/api/dev/keys", `{"label":"overlay bot","permissions":["signal","read"]}`, me)
	key, id := field(minted, "key"), field(minted, "id")
	// Replacements for random keys and ids.
	const goldenKey, goldenID, goldenOwner = "dk_7Z0tqZVjIDfAsoOuq9Wtl-dne3BFCVlOeV4DpRpwHhQ", "0199f0f0-0000-7000-8000-000000000006", "0199f0f0-0000-7000-8000-000000000004"
	goldenKeys := func(name string, w *answer) {
		t.Helper()
		w = renamed(renamed(w, key, goldenKey), id, goldenID)
		w = renamed(w, `"last4":"`+key[len(key)-4:], `"last4":"`+goldenKey[len(goldenKey)-4:])
		golden(t, name, renamed(w, b.operator("tidewatch").GetId(), goldenOwner))
	}
	goldenKeys("keys/minted", minted)
	goldenKeys("keys/whoami", b.send("GET", "/api/dev/whoami", "", me))
	want(t, b.send("POST", "/api/predictions", fullDraft, with("Authorization", "Bearer "+key)), 200, "")
	list := b.send("GET", "/api/dev/keys", "", me)
	goldenKeys("keys/list", list)
	if strings.Contains(list.Body.String(), key) {
		t.Error("the list shows a plaintext")
	}
	want(t, b.send("DELETE", "/api/dev/keys?id="+id, "", byLogin("mara_k")), 404, "not_found")
	want(t, b.send("DELETE", "/api/dev/keys?id=7", "", me), 404, "not_found")
	want(t, b.send("DELETE", "/api/dev/keys", "", me), 400, "missing_id")
	goldenKeys("keys/revoked", b.send("DELETE", "/api/dev/keys?id="+id, "", me))
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

const ownClaims = "/api/identity/claim" // accepts sessions only

func TestSignOutEndsCopiedCookies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	copied, other := b.bySession(), with("Cookie", b.signIn(b.operator("mara_k")))
	want(t, b.send("GET", ownClaims, "", copied), 200, "")
	want(t, b.send("DELETE", "/api/auth/privy", "", b.bySession()), 200, "")
	want(t, b.send("GET", ownClaims, "", copied), 401, "unauthenticated")
	want(t, b.send("GET", ownClaims, "", other), 200, "")
}

func TestSignOutEverywhereEndsEverySession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := with("Cookie", b.signIn(b.operator("mara_k")))
	want(t, b.send("DELETE", "/api/auth/privy?all=1", "", b.bySession()), 400, "invalid_all")
	want(t, b.send("GET", ownClaims, "", other), 200, "")
	w := b.send("DELETE", "/api/auth/privy?all=true", "", b.bySession())
	want(t, w, 200, "")
	equal(t, len(w.Result().Cookies()), 3)
	for name, session := range map[string]header{"the same": b.bySession(), "another": other} {
		want(t, b.send("GET", ownClaims, "", session).as(name), 401, "")
	}
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", ownClaims, "", with("Cookie", b.signIn(b.operator("mara_k")))), 200, "") // a new sign-in
}

func TestSignOutSaysThatTheSessionWasNotEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.setDown(true)
	w := b.send("DELETE", "/api/auth/privy", "", b.bySession())
	want(t, w, 503, "db_unavailable")
	equal(t, len(w.Result().Cookies()), 3)
}

func TestSessionIsBoundToItsBrowser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pair, bind, _ := strings.Cut(b.cookie, "; __Host-")
	if bind == "" {
		t.Fatalf("no binding cookie in %s", b.cookie)
	}
	_, other, _ := strings.Cut(b.signIn(b.operator("mara_k")), "; __Host-")
	want(t, b.send("GET", ownClaims, "", with("Cookie", pair)), 401, "unauthenticated")
	want(t, b.send("GET", ownClaims, "", with("Cookie", pair+"; __Host-"+other)), 401, "unauthenticated")
	want(t, b.send("GET", ownClaims, "", with("Cookie", b.cookie)), 200, "")
}

// knownKey returns a key that the hub has verified once.
func (b *fixture) knownKey() string {
	b.t.Helper()
	key := b.ledger.AddKey(b.mara.GetId())
	want(b.t, b.send("POST", "/api/predictions", `{}`, with("Authorization", "Bearer "+key)), 400, "missing_market_id")
	return key
}

// revoke revokes a key in the ledger without informing the hub.
func (b *fixture) revoke(key string) {
	hash := sha256.Sum256([]byte(key))
	b.ledger.Exec(`UPDATE operator_keys SET revoked_at = $2 WHERE hash = $1`, hash[:], b.clock.Now())
}

// brokenBodies returns request bodies that a route rejects before it calls the ledger, with their content types.
func brokenBodies() map[string][2]string { // name → body and content type
	return map[string][2]string{
		"no json":      {`{"a":`, "application/json"},
		"nothing":      {`{}`, "application/json"},
		"another type": {`{}`, "text/plain"},
		"too large":    {`{"a":"` + strings.Repeat("x", 64<<10) + `"}`, "application/json"},
		"no price":     {`{"marketId":"701122","direction":"YES"}`, "application/json"},
	}
}

// TestCredentialBeforeBody checks that every write route rejects an invalid credential before it reports an invalid body. This
// includes a key that was revoked after the hub had verified it.
func TestCredentialBeforeBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cells := 0
	for _, route := range b.server.Table() {
		if route.Method == http.MethodGet || slices.Contains(route.Who, "client") || strings.HasPrefix(route.Path, "/api/channel") {
			continue
		}
		target := strings.ReplaceAll(route.Path, ":id", "not-a-uuid")
		for name, broken := range brokenBodies() {
			key := b.knownKey()
			b.revoke(key)
			bad := map[string]header{
				"a revoked key":  with("Authorization", "Bearer "+key),
				"an unknown key": with("Authorization", "Bearer dk_"+strings.Repeat("A", 43)),
				"a forged token": with("Authorization", "Bearer jwt.mara_k.forged"),
				"an app's token": with("Authorization", "Bearer dat_abc"),
				"another scheme": with("Authorization", "Basic YTpi"),
				"a void session": with("Cookie", "db_uid=x; db_sig=y"),
				"no credential":  with("X-Nothing", "x"),
			}
			for who, credential := range bad {
				public := slices.Contains(route.Who, "public") && (who == "a void session" || who == "no credential")
				if public {
					continue
				}
				b.clock.Advance(2e9)
				want(t, b.send(route.Method, target, broken[0], credential, contentType(broken[1])).as(who+", "+name), 401, "unauthenticated")
				cells++
			}
		}
	}
	if cells < 200 {
		t.Errorf("only %d combinations were tested", cells)
	}
}

// TestUncheckedKeyGetsNoDetails checks that while the ledger cannot verify a key, the answer has no details about an invalid
// body.
func TestUncheckedKeyGetsNoDetails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := with("Authorization", "Bearer "+b.knownKey())
	b.ledger.Fail(apitest.ErrDB, "VerifyKey")
	want(t, b.send("POST", "/api/predictions", `{}`, key), 503, "db_unavailable")
	want(t, b.send("POST", "/api/predictions", `{}`, b.bySession()), 400, "missing_market_id")
}
