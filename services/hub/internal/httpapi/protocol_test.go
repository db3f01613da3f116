package httpapi_test

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	tokenPath  = "/api/protocol/v1/oauth/token"
	revokePath = "/api/protocol/v1/oauth/revoke"
	lookPath   = "/api/protocol/v1/oauth/introspect"
	mePath     = "/api/protocol/v1/me"
)

// TestAppSignsIn checks the whole life of an app: registration, consent, tokens, a read with a token, and the end of the grant.
func TestAppSignsIn(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	to := b.approve(a.authorizeURL())
	q := to.Query()
	if !strings.HasPrefix(to.String(), callback+"?") || q.Get("state") != "s 1/é" || q.Get("iss") != issuer || q.Get("code") == "" {
		t.Fatalf("redirected to %s", to)
	}
	w := b.redeem(a, q.Get("code"))
	want(t, w, 200, "")
	for _, pair := range [][2]string{
		{"access_token", "accessToken"}, {"refresh_token", "refreshToken"}, {"token_type", "tokenType"}, {"expires_in", "expiresIn"},
	} {
		if field(w, pair[0]) == "" || field(w, pair[0]) != field(w, pair[1]) {
			t.Errorf("%v: %q and %q", pair, field(w, pair[0]), field(w, pair[1]))
		}
	}
	has(t, w, "Cache-Control: no-store", "scope=profile:read offline_access signal:create", "denpaId="+b.mara.GetId())
	access, grantID := field(w, "access_token"), field(w, "grantId")

	w = b.send("GET", mePath, "", bearer(access))
	want(t, w, 200, "", "denpaId="+b.mara.GetId(), "username=mara_k", `"grantId":"`+grantID+`"`)
	w = b.send("GET", "/api/protocol/v1/grants", "", bearer(access))
	want(t, w, 200, "")
	equal(t, strings.Count(w.Body.String(), `"grantId"`), 1)
	want(t, b.send("DELETE", "/api/protocol/v1/grants/"+grantID, "", bearer(access)), 200, "")
	w = b.send("GET", mePath, "", bearer(access))
	want(t, w, 401, "unauthenticated")
	requireChallenge(t, w, `Bearer error="invalid_token"`, `resource_metadata="`+hubURL+`/.well-known/oauth-protected-resource/api/protocol/v1"`)
}

// TestTokenEndpointForms (docs/security.md S20) checks that the token endpoint accepts a form or JSON with POST only, that it
// refuses duplicate parameters, and that its errors have the members of RFC 6749.
func TestTokenEndpointForms(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	code := b.approve(a.authorizeURL()).Query().Get("code")
	w := b.send("POST", tokenPath, `{"grantType":"authorization_code","code":"`+code+`","codeVerifier":"`+codeProof+`","clientId":"`+a.ID+`","redirectUri":"`+callback+`"}`)
	want(t, w, 200, "")
	refresh := field(w, "refreshToken")
	w = b.send("POST", tokenPath, `{"grant_type":"refresh_token","refreshToken":"`+refresh+`","client_id":"`+a.ID+`","theirs":[7]}`) // unknown members are ignored
	want(t, w, 200, "", "!refresh_token="+refresh)
	for name, body := range map[string]string{
		"broken": `{"a":`, "a list": `[]`, "twice": `{"code":"a","code":"b"}`, "a number": `{"code":1}`,
		"two spellings": `{"clientId":"` + a.ID + `","client_id":"` + a.ID + `","grantType":"refresh_token"}`,
	} {
		want(t, b.send("POST", tokenPath, body).as(name), 400, "invalid_request", "!error_description=")
	}
	for _, form := range []string{"client_id=" + a.ID + "&client_id=" + a.ID, "client_id=" + a.ID + "&code=a&code=b&grant_type=authorization_code"} { // docs/security.md S7
		v, err := url.ParseQuery(form)
		must(t, err)
		want(t, b.post(tokenPath, v), 400, "invalid_request")
	}
	byAddress := tokenPath + "?" + url.Values{"grant_type": {"authorization_code"}, "code": {b.approve(a.authorizeURL()).Query().Get("code")}, "client_id": {a.ID}, "code_verifier": {codeProof}}.Encode()
	want(t, b.send("GET", byAddress, ""), 405, "method_not_allowed")
	want(t, b.post(byAddress, url.Values{}), 401, "invalid_client")
	w = b.post(tokenPath, url.Values{"grant_type": {"password"}, "client_id": {a.ID}})
	want(t, w, 400, "unsupported_grant_type", "Cache-Control: no-store")
}

// TestClientAuthentication (docs/security.md S12, S16, S27) checks the status and challenge for a client that is not
// authenticated, and that a client can revoke only its own tokens.
func TestClientAuthentication(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a, other := b.register("confidential"), b.register("public")
	if a.Secret == "" || other.Secret != "" {
		t.Fatal("want a secret of the confidential app and none of the public app")
	}
	access, _, grantID := b.connect(a)
	w := b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret))
	want(t, w, 200, "", "active=true", "grantId="+grantID, "aud="+issuer, "sub="+b.mara.GetId())
	for name, refused := range map[string][]header{
		"a wrong secret": {basic(a.ID, a.Secret+"x")}, "an operator key": {b.byKey()}, "an app token": {bearer(access)},
	} {
		w := b.post(lookPath, url.Values{"token": {access}}, refused...).as(name)
		want(t, w, 401, "invalid_client")
		requireChallenge(t, w, "Basic realm=")
		has(t, w, "!error_description=")
	}
	want(t, b.post(lookPath, url.Values{"token": {access}, "client_id": {other.ID}}), 401, "invalid_client")
	w = b.post(revokePath, url.Values{"token": {access}, "client_id": {other.ID}}) // answered with 200, but without an effect
	want(t, w, 200, "", "=")
	want(t, b.send("GET", mePath, "", bearer(access)), 200, "")
	want(t, b.post(revokePath, url.Values{"token": {access}}, basic(a.ID, a.Secret)), 200, "")
	want(t, b.send("GET", mePath, "", bearer(access)), 401, "unauthenticated")
	if w := b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret)); w.Body.String() != `{"active":false}`+"\n" && w.Body.String() != `{"active":false}` {
		t.Errorf("a revoked token: %s", w.Body)
	}
}

// TestClientLimit checks that one client id may send at most 30 requests a minute to the token endpoint from one IP address.
func TestClientLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"0199f0a4-0000-7000-8000-00000000ffff"}, "refresh_token": {"x"}}
	for range 30 {
		if w := b.post(tokenPath, form); w.Header().Get("RateLimit-Policy") != `"hub";q=30;w=60` {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
	}
	want(t, b.post(tokenPath, form), 429, "rate_limited", "!Retry-After: ", "limit=30")
	form.Set("client_id", "0199f0a4-0000-7000-8000-00000000fffe")
	want(t, b.post(tokenPath, form), 401, "invalid_client")
}

// TestGrantsOfTheSession checks that a session lists its grants and can revoke one, which revokes all tokens of that grant.
func TestGrantsOfTheSession(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	access, _, grantID := b.connect(b.register("public"))
	one := "/api/user/grants/" + grantID
	want(t, b.send("GET", "/api/user/grants", "", b.bySession()), 200, "", grantID, `"name":"Weather desk"`)
	want(t, b.send("GET", mePath, "", bearer(access)), 200, "")
	want(t, b.send("DELETE", one, "", b.bySession()), 200, "")
	want(t, b.send("DELETE", one, "", b.bySession()), 200, "")
	want(t, b.send("GET", mePath, "", bearer(access)), 401, "unauthenticated")
	want(t, b.send("DELETE", "/api/user/grants/0199f0a4-0000-7000-8000-00000000ffff", "", b.bySession()), 404, "not_found")
}

// TestPassports checks that the passport of an operator is found by id and by handle.
func TestPassports(t *testing.T) {
	t.Parallel()
	b := setup(t)
	byHandle := b.send("GET", "/api/protocol/v1/passports/Mara_K", "")
	want(t, byHandle, 200, "")
	has(t, b.send("GET", "/api/protocol/v1/passports/"+strings.ToUpper(b.mara.GetId()), ""), "="+byHandle.Body.String())
	golden(t, "protocol/passport", byHandle)
	b.file("YES", 3150, b.bySession())
	tide := b.ledger.AddOperator("tide")
	mara := operator.ID(b.mara.GetId())
	if err := b.store.Follow(t.Context(), operator.Operator{ID: operator.ID(tide.GetId()), Handle: "tide"}, operator.Operator{ID: mara, Handle: "mara_k"}, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := b.store.StoreClaim(t.Context(), mara, identityclaim.Claim{Station: "partner", Identity: wallet, VerifiedAt: b.clock.Now(), ProfileURL: "https://partner.example/u/" + wallet}); err != nil {
		t.Fatal(err)
	}
	golden(t, "protocol/passport_full", b.send("GET", "/api/protocol/v1/passports/mara_k", ""))
	for _, id := range []string{"no_such_user", "0199f0a4-0000-7000-8000-00000000ffff", "x", "a%20b"} {
		want(t, b.send("GET", "/api/protocol/v1/passports/"+id, ""), 404, "not_found")
	}
}

// TestDiscovery checks the discovery documents of RFC 8414 and RFC 9728.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	own := b.send("GET", "/api/protocol/v1", "")
	golden(t, "protocol/issuer", own)
	has(t, b.send("GET", "/.well-known/oauth-authorization-server/api/protocol/v1", ""), "="+own.Body.String())
	has(t, own, "Cache-Control: public, max-age=300", "Access-Control-Allow-Origin: *")
	golden(t, "protocol/resource", b.send("GET", "/.well-known/oauth-protected-resource/api/protocol/v1", ""))
	golden(t, "protocol/resource_mcp", b.send("GET", "/.well-known/oauth-protected-resource/api/protocol/v1/mcp", ""))
	for _, path := range []string{"", "/api/mcp", "/api/protocol/v1/mcp/", "/api/protocol/v1/signals"} {
		want(t, b.send("GET", "/.well-known/oauth-protected-resource"+path, ""), 404, "not_found")
	}
}

var secretOf = regexp.MustCompile(`das_[A-Za-z0-9_-]{43}`)

// TestApps checks that an owner can create, change and disable apps and renew their secrets. It also checks the public data of an
// app.
func TestApps(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	w := b.send("POST", "/api/dev/apps", `{"name":"Weather desk","type":"confidential","redirectUris":["`+callback+`"],"scopes":["profile:read"],"homepage":"https://weather.example","x":1}`, byLogin("mara_k"))
	want(t, w, 201, "")
	id := field(w, "appId")
	if !secretOf.MatchString(field(w, "clientSecret")) || field(w, "clientId") != id || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	w.Body = bytes.NewBuffer(secretOf.ReplaceAll(bytes.ReplaceAll(w.Body.Bytes(), []byte(id), []byte("0199f0a4-0000-7000-8000-00000000a001")), []byte("das_x")))
	golden(t, "protocol/app_made", w)
	one := "/api/dev/apps/" + id
	list := b.send("GET", "/api/dev/apps", "", byLogin("mara_k"))
	list.Body = bytes.NewBuffer(bytes.ReplaceAll(list.Body.Bytes(), []byte(id), []byte("0199f0a4-0000-7000-8000-00000000a001")))
	golden(t, "protocol/apps", list)
	seen := b.send("GET", "/api/protocol/v1/apps/"+id, "")
	seen.Body = bytes.NewBuffer(bytes.ReplaceAll(seen.Body.Bytes(), []byte(id), []byte("0199f0a4-0000-7000-8000-00000000a001")))
	golden(t, "protocol/app_public", seen)

	w = b.send("PATCH", one, `{"name":"Tide desk","homepage":"","type":"public"}`, byLogin("mara_k"))
	want(t, w, 200, "", "name=Tide desk", "homepage=", "type=confidential", "clientSecret=")
	for body, code := range map[string]string{
		`{"redirectUris":["http://localhost/cb"]}`: "invalid_redirect_uri", `{"scopes":["everything"]}`: "invalid_scope", `{"scopes":[]}`: "invalid_scope",
		`{"name":""}`: "invalid_request", `{"name":7}`: "invalid_request", `{"redirectUris":"x"}`: "invalid_request", `{"logoUrl":"http://x.example"}`: "invalid_request",
	} {
		want(t, b.send("PATCH", one, body, byLogin("mara_k")), 400, code)
	}
	for _, c := range [][2]string{{"PATCH", one}, {"DELETE", one}, {"POST", one + "/secret"}} { // another operator cannot change the app
		want(t, b.send(c[0], c[1], `{}`, byLogin("tide")), 404, "not_found")
	}
	w = b.send("POST", one+"/secret", "", byLogin("mara_k"))
	if want(t, w, 200, ""); !secretOf.MatchString(field(w, "clientSecret")) {
		t.Errorf("%s", w.Body)
	}
	public := b.register("public")
	want(t, b.send("POST", "/api/dev/apps/"+public.ID+"/secret", `{"immediate":true}`, byLogin("mara_k")), 409, "public_client")
	access, _, _ := b.connect(public)
	want(t, b.send("DELETE", "/api/dev/apps/"+public.ID, "", byLogin("mara_k")), 200, "")
	want(t, b.send("GET", mePath, "", bearer(access)), 401, "unauthenticated")
	has(t, b.send("GET", "/api/protocol/v1/apps/"+public.ID, ""), "active=false")
	want(t, b.send("GET", "/api/protocol/v1/apps/x", ""), 404, "not_found")
}

// TestEveryRouteAndEveryToken (docs/security.md S22) checks every route of the table: it accepts an app token only if the table
// lists tokens for it or it is a public read, and it never accepts a refresh token, a code or a revoked token as a bearer.
func TestEveryRouteAndEveryToken(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	scopes := []string{"scopes", `["profile:read","signer:create","offline_access","signal:create","prediction:create"]`}
	a := b.register("public", scopes...)
	code := b.approve(a.authorizeURL()).Query().Get("code")
	dead, _, grantID := b.connect(a)
	want(t, b.send("DELETE", "/api/user/grants/"+grantID, "", b.bySession()), 200, "")
	taken, refused := 0, 0
	for _, r := range b.server.Table() {
		if strings.HasPrefix(r.Path, "/api/channel") {
			continue // retired routes answer 410 to every caller
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
			"an app token": live, "a refresh token": refresh, "a code": code, "a revoked token": dead,
			"an unknown token": "dat_" + strings.Repeat("A", 43), "a short token": "dat_abc",
		} {
			w := b.send(r.Method, target, "", bearer(token), with("Accept", "application/json"))
			publicRead := r.Method == "GET" && slices.Contains(r.Who, "public") && !slices.Contains(r.Who, "client")
			takes := (slices.Contains(r.Who, "token") || publicRead) && name == "an app token"
			if takes && (w.Code == http.StatusUnauthorized || field(w, "error") == "insufficient_scope") || !takes && w.Code != http.StatusUnauthorized {
				t.Errorf("%s %s with %s: %d %.100s", r.Method, r.Path, name, w.Code, w.Body)
			}
			if w.Code == http.StatusUnauthorized && !slices.Contains(r.Who, "client") && strings.HasPrefix(r.Path, "/api/protocol/") {
				requireChallenge(t, w, `Bearer error="invalid_token"`)
			}
			if takes {
				taken++
			} else {
				refused++
			}
		}
	}
	if taken < 3 || refused < 300 {
		t.Errorf("%d accepted, %d rejected; want some of each", taken, refused)
	}
}

// TestEveryScopeIsRequired (docs/security.md S22) checks that a route with a scope rejects tokens that have all other scopes, and
// keys without the corresponding permission.
func TestEveryScopeIsRequired(t *testing.T) {
	t.Parallel()
	b := withPages(t)
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
		w := b.send(r.method, r.path, `{`, bearer(first(b.connect(a, "scope", others)))) // the scope is checked before the body
		want(t, w, 403, "insufficient_scope")
		requireChallenge(t, w, `Bearer error="insufficient_scope"`, `scope="`+r.scope+`"`)
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

// TestTokenRoutesDescribeTheirRefusals checks that errors of the token routes repeat the message in error_description, because
// OAuth libraries show only that member.
func TestTokenRoutesDescribeTheirRefusals(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	plain := contentType("text/plain")
	for _, path := range []string{tokenPath, revokePath, lookPath} {
		method, kind := b.send("GET", path, ""), b.send("POST", path, "x=1", plain)
		large := b.post(path, url.Values{"code": {strings.Repeat("x", 16<<10)}})
		want(t, method, 405, "method_not_allowed")
		want(t, kind, 415, "unsupported_media_type")
		want(t, large, 413, "payload_too_large")
		for _, w := range []*answer{method, kind, large} {
			if say := field(w, "error_description"); say == "" || say != field(w, "message") {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
		if method.Header().Get("Allow") != "OPTIONS, POST" || !strings.Contains(field(kind, "message"), "x-www-form-urlencoded or application/json") {
			t.Errorf("%s: %v %s", path, method.Header(), kind.Body)
		}
	}
}
