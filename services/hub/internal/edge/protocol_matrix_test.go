package edge_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestEveryRouteAndEveryToken (S22): made from the table of routes. An app token is
// taken where its kind stands in the table and nowhere else; a refresh token, a code
// and a dead token are no bearers anywhere.
func TestEveryRouteAndEveryToken(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	scopes := []string{"scopes", `["profile:read","signer:create","offline_access","signal:create","prediction:create"]`}
	a := b.register("public", scopes...)
	code := b.approve(a.asking()).Query().Get("code")
	dead, _, grantID := b.connect(a)
	want(t, b.send("DELETE", "/api/user/grants/"+grantID, "", b.bySession()), 200, "")
	taken, refused := 0, 0
	for _, r := range b.server.Table() {
		if strings.HasPrefix(r.Path, "/api/channel") {
			continue // gone for everybody
		}
		target := strings.NewReplacer(
			":appId", "x", ":grantId", "x", ":id", "x", ":marketId", marketID, ":eventKey", "ostrava-flood", ":file", "app.css", ":handle", "mara_k",
			":type", "signal.create", ":publicKey", strings.Repeat("0", 64),
		).Replace(r.Path)
		b.clock.Advance(2 * time.Minute)
		resource := issuer
		if r.Path == agentPathP {
			resource += "/mcp"
		}
		live, refresh, _ := b.connect(a, "scope", "profile:read signer:create offline_access signal:create prediction:create", "resource", resource)
		for name, token := range map[string]string{
			"an app token": live, "a refresh token": refresh, "a code": code, "a dead token": dead,
			"a token of nobody": "dat_" + strings.Repeat("A", 43), "a short token": "dat_abc",
		} {
			w := b.send(r.Method, target, "", bearer(token), with("Accept", "application/json"))
			takes := contains(r.Who, "token") && name == "an app token"
			if takes && (w.Code == http.StatusUnauthorized || field(w, "error") == "insufficient_scope") || !takes && w.Code != http.StatusUnauthorized {
				t.Errorf("%s %s with %s: %d %.100s", r.Method, r.Path, name, w.Code, w.Body)
			}
			if w.Code == http.StatusUnauthorized && !contains(r.Who, "client") && strings.HasPrefix(r.Path, "/api/protocol/") {
				says(t, w, `Bearer error="invalid_token"`)
			}
			if takes {
				taken++
			} else {
				refused++
			}
		}
	}
	if taken < 3 || refused < 300 {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
}

// TestEveryScopeIsAskedFor (S22): a route that needs a scope refuses the token and the
// key that have every other one.
func TestEveryScopeIsAskedFor(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	a := b.register("public", "scopes", `["profile:read","signer:create","signal:create","prediction:create"]`)
	all := "profile:read signer:create signal:create prediction:create"
	const p = "/api/protocol/v1"
	for _, r := range []struct{ method, path, scope, permission string }{
		{"GET", mePath, "profile:read", "read"},
		{"POST", p + "/signers", "signer:create", "signal"},
		{"POST", p + "/signers/challenge", "signer:create", "signal"},
		{"POST", p + "/signals", "signal:create", "signal"},
		{"POST", p + "/predictions", "prediction:create", "signal"},
	} {
		others := strings.Join(strings.Fields(strings.ReplaceAll(all, r.scope, "")), " ")
		w := b.send(r.method, r.path, `{`, bearer(first(b.connect(a, "scope", others)))) // the scope comes before the body
		want(t, w, 403, "insufficient_scope")
		says(t, w, `Bearer error="insufficient_scope"`, `scope="`+r.scope+`"`)
		if w = b.send(r.method, r.path, `{}`, bearer(first(b.connect(a, "scope", r.scope)))); w.Code != 200 && w.Code != 400 {
			t.Errorf("%s with %s: %d %s", r.path, r.scope, w.Code, w.Body)
		}
		for _, permission := range []string{"read", "signal", "broadcast"} {
			key := field(b.send("POST", "/api/dev/keys", `{"label":"x","permissions":["`+permission+`"]}`, byLogin(permission)), "key")
			w := b.send(r.method, r.path, `{}`, bearer(key))
			if (w.Code == 403) != (permission != r.permission) {
				t.Errorf("%s with a key for %s: %d %s", r.path, permission, w.Code, w.Body)
			}
		}
		b.clock.Advance(time.Minute)
	}
}

func first(access, _, _ string) string { return access }

// TestPreflights (S28): a page of any origin may use the protocol with a bearer, and
// nothing of what a session or an owner can do.
func TestPreflights(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	for path, star := range map[string]bool{
		"/api/protocol/v1": true, tokenPath: true, revokePath: true, lookPath: true, mePath: true, "/api/protocol/v1/grants/x": true,
		"/.well-known/oauth-authorization-server/api/protocol/v1": true,
		"/protocol/authorize": false, "/apps": false, "/apps/revoke": false, "/api/user/grants": false, "/api/user/grants/x": false,
		"/api/dev/apps": false, "/api/dev/apps/x": false, "/api/dev/apps/x/secret": false, "/api/dev/keys": false, "/api/predictions": false,
		"/api/mcp": false, "/api/user/follow": false, "/api/user/signers/x": false, "/api/identity/claim": false, "/api/auth/privy": false, "/api/dev/whoami": false,
		"/dev": false, "/dev/session": false, "/dev/keys": false, "/": false, "/api/admin/markets": false,
		"/api/protocol/v1/mcp": true, "/api/protocol/v1/messages": true, "/api/protocol/v1/signers": true, "/api/protocol/v1/signals": true, "/api/protocol/v1/predictions": true,
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			w := b.send("OPTIONS", path, "", with("Origin", "https://app.example.com"), with("Access-Control-Request-Method", method),
				with("Access-Control-Request-Headers", "authorization, content-type"))
			h := w.Header()
			if (h.Get("Access-Control-Allow-Origin") == "*") != star || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s for %s: %v", path, method, h)
			}
			if strings.HasPrefix(path, "/api/protocol/") && (!strings.Contains(h.Get("Access-Control-Allow-Headers"), "authorization") ||
				!strings.Contains(h.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "DELETE")) {
				t.Errorf("%s: %v", path, h)
			}
		}
	}
	for _, path := range []string{"/protocol/authorize", "/api/user/grants", "/api/dev/apps", "/api/mcp"} { // the answers too
		for _, method := range []string{"GET", "POST", "DELETE"} {
			if h := b.send(method, path, "", b.bySession(), with("Origin", "https://app.example.com")).Header(); h.Get("Access-Control-Allow-Origin") != "" || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %s: %v", method, path, h)
			}
		}
	}
	w := b.post(tokenPath, url.Values{"grant_type": {"x"}}, with("Origin", "https://app.example.com"))
	if w.Code != 401 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a refusal: %d %v", w.Code, w.Header())
	}
}
