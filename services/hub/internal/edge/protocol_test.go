package edge_test

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const (
	tokenPath  = "/api/protocol/v1/oauth/token"
	revokePath = "/api/protocol/v1/oauth/revoke"
	lookPath   = "/api/protocol/v1/oauth/introspect"
	mePath     = "/api/protocol/v1/me"
)

// TestAppSignsIn is the way of an app from registration to its own end.
func TestAppSignsIn(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	a := b.register("public")
	to := b.approve(a.asking())
	q := to.Query()
	if !strings.HasPrefix(to.String(), callback+"?") || q.Get("state") != "s 1/é" || q.Get("iss") != issuer || q.Get("code") == "" {
		t.Fatalf("sent to %s", to)
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
	if w.Header().Get("Cache-Control") != "no-store" || field(w, "scope") != "profile:read offline_access signal:create" || field(w, "denpaId") != b.mara.GetId() {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	access, grantID := field(w, "access_token"), field(w, "grantId")

	w = b.send("GET", mePath, "", bearer(access))
	want(t, w, 200, "")
	if field(w, "denpaId") != b.mara.GetId() || field(w, "username") != "mara_k" || !strings.Contains(w.Body.String(), `"grantId":"`+grantID+`"`) {
		t.Errorf("me: %s", w.Body)
	}
	w = b.send("GET", "/api/protocol/v1/grants", "", bearer(access))
	if want(t, w, 200, ""); strings.Count(w.Body.String(), `"grantId"`) != 1 {
		t.Errorf("grants: %s", w.Body)
	}
	want(t, b.send("DELETE", "/api/protocol/v1/grants/"+grantID, "", bearer(access)), 200, "")
	w = b.send("GET", mePath, "", bearer(access))
	want(t, w, 401, "unauthenticated")
	says(t, w, `Bearer error="invalid_token"`, `resource_metadata="`+hubURL+`/.well-known/oauth-protected-resource/api/protocol/v1"`)
}

// TestTokenEndpointForms (S20): form or JSON, POST alone, 16 KiB at most; each failure
// has the members of RFC 6749.
func TestTokenEndpointForms(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	a := b.register("public")
	code := b.approve(a.asking()).Query().Get("code")
	w := b.send("POST", tokenPath, `{"grantType":"authorization_code","code":"`+code+`","codeVerifier":"`+codeProof+`","clientId":"`+a.ID+`","redirectUri":"`+callback+`"}`)
	want(t, w, 200, "")
	refresh := field(w, "refreshToken")
	w = b.send("POST", tokenPath, `{"grant_type":"refresh_token","refreshToken":"`+refresh+`","client_id":"`+a.ID+`","theirs":[7]}`) // overlooked, as in every body
	if want(t, w, 200, ""); field(w, "refresh_token") == refresh {
		t.Error("the refresh token was not turned")
	}
	for name, body := range map[string]string{
		"broken": `{"a":`, "a list": `[]`, "twice": `{"code":"a","code":"b"}`, "a number": `{"code":1}`,
		"two spellings": `{"clientId":"` + a.ID + `","client_id":"` + a.ID + `","grantType":"refresh_token"}`,
	} {
		w := b.send("POST", tokenPath, body)
		if want(t, w, 400, "invalid_request"); field(w, "error_description") == "" {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
	for _, form := range []string{"client_id=" + a.ID + "&client_id=" + a.ID, "client_id=" + a.ID + "&code=a&code=b&grant_type=authorization_code"} { // S7
		v, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		want(t, b.post(tokenPath, v), 400, "invalid_request")
	}
	byAddress := tokenPath + "?" + url.Values{"grant_type": {"authorization_code"}, "code": {b.approve(a.asking()).Query().Get("code")}, "client_id": {a.ID}, "code_verifier": {codeProof}}.Encode()
	want(t, b.send("GET", byAddress, ""), 405, "method_not_allowed")
	want(t, b.post(byAddress, url.Values{}), 401, "invalid_client")
	w = b.post(tokenPath, url.Values{"grant_type": {"password"}, "client_id": {a.ID}})
	want(t, w, 400, "unsupported_grant_type")
	if w.Header().Get("Cache-Control") != "no-store" {
		t.Error("a refusal may be cached")
	}
}

// TestClientsProveThemselves (S12, S17, S27): what the core decides arrives with the
// right status and challenge.
func TestClientsProveThemselves(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	a, other := b.register("confidential"), b.register("public")
	if a.Secret == "" || other.Secret != "" {
		t.Fatal("a confidential app alone has a secret")
	}
	access, _, grantID := b.connect(a)
	basic := func(id, secret string) header {
		return with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
	}
	w := b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret))
	want(t, w, 200, "")
	if field(w, "active") != "true" || field(w, "grantId") != grantID || field(w, "aud") != issuer || field(w, "sub") != b.mara.GetId() {
		t.Errorf("%s", w.Body)
	}
	for name, refused := range map[string][]header{
		"a wrong secret": {basic(a.ID, a.Secret+"x")}, "an operator key": {b.byKey()}, "an app token": {bearer(access)},
	} {
		w := b.post(lookPath, url.Values{"token": {access}}, refused...)
		want(t, w, 401, "invalid_client")
		says(t, w, "Basic realm=")
		if field(w, "error_description") == "" {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
	want(t, b.post(lookPath, url.Values{"token": {access}, "client_id": {other.ID}}), 401, "invalid_client")
	w = b.post(revokePath, url.Values{"token": {access}, "client_id": {other.ID}}) // silent, and nothing happens
	if want(t, w, 200, ""); w.Body.Len() != 0 {
		t.Errorf("revoke answers %q", w.Body)
	}
	want(t, b.send("GET", mePath, "", bearer(access)), 200, "")
	want(t, b.post(revokePath, url.Values{"token": {access}}, basic(a.ID, a.Secret)), 200, "")
	want(t, b.send("GET", mePath, "", bearer(access)), 401, "unauthenticated")
	if w := b.post(lookPath, url.Values{"token": {access}}, basic(a.ID, a.Secret)); w.Body.String() != `{"active":false}`+"\n" && w.Body.String() != `{"active":false}` {
		t.Errorf("a dead token: %s", w.Body)
	}
}

// TestClientLimit: thirty calls a minute of one app at one address.
func TestClientLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"0199f0a4-0000-7000-8000-00000000ffff"}, "refresh_token": {"x"}}
	for range 30 {
		if w := b.post(tokenPath, form); w.Header().Get("RateLimit-Policy") != `"hub";q=30;w=60` {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
	}
	w := b.post(tokenPath, form)
	if want(t, w, 429, "rate_limited"); w.Header().Get("Retry-After") == "" || field(w, "limit") != "30" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	form.Set("client_id", "0199f0a4-0000-7000-8000-00000000fffe")
	want(t, b.post(tokenPath, form), 401, "invalid_client")
}

// TestScopesAndResources (S22, S24): a token does what it was given, where it was given.
func TestScopesAndResources(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	a := b.register("public")
	access, _, _ := b.connect(a, "scope", "signal:create")
	w := b.send("GET", mePath, "", bearer(access))
	want(t, w, 403, "insufficient_scope")
	says(t, w, `Bearer error="insufficient_scope"`, `scope="profile:read"`)
	if field(w, "required") != "profile:read" {
		t.Errorf("%s", w.Body)
	}
	elsewhere, refresh, _ := b.connect(a, "resource", issuer+"/mcp")
	want(t, b.send("GET", mePath, "", bearer(elsewhere)), 401, "unauthenticated")
	for _, path := range []string{"/predictions", "/signals", "/signers/challenge"} {
		w := b.send("POST", "/api/protocol/v1"+path, `{}`, bearer(elsewhere))
		want(t, w, 401, "unauthenticated")
		says(t, w, `Bearer error="invalid_token"`)
	}
	want(t, b.send("GET", mePath, "", bearer(refresh)), 401, "unauthenticated")
	named, _, _ := b.connect(a, "resource", issuer)
	want(t, b.send("GET", mePath, "", bearer(named)), 200, "")
	w = b.send("GET", mePath, "")
	want(t, w, 401, "unauthenticated")
	if says(t, w, "Bearer resource_metadata="); strings.Contains(w.Header().Get("WWW-Authenticate"), "error=") {
		t.Error("who brought nothing is told of an error")
	}
}

// TestKeysOnTheProtocol: an operator key may do there what its permissions say.
func TestKeysOnTheProtocol(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	a := b.register("public")
	_, _, grantID := b.connect(a)
	mint := func(permission string) header {
		w := b.send("POST", "/api/dev/keys", `{"label":"x","permissions":["`+permission+`"]}`, byLogin("mara_k"))
		want(t, w, 201, "")
		return bearer(field(w, "key"))
	}
	reads, signals, broadcasts := mint("read"), mint("signal"), mint("broadcast")
	one := "/api/protocol/v1/grants/" + grantID
	for _, c := range []struct {
		method, path string
		who          header
		status       int
	}{
		{"GET", mePath, reads, 200},
		{"GET", mePath, signals, 403},
		{"GET", mePath, broadcasts, 403},
		{"GET", "/api/protocol/v1/grants", reads, 200},
		{"GET", "/api/protocol/v1/grants", signals, 403},
		{"DELETE", one, reads, 403},
		{"DELETE", one, broadcasts, 403},
		{"DELETE", one, signals, 200},
		{"DELETE", one, signals, 200},
	} {
		w := b.send(c.method, c.path, "", c.who)
		if w.Code != c.status {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, w.Code, c.status, w.Body)
		}
		if c.status == 403 {
			says(t, w, `error="insufficient_scope"`)
		}
	}
	theirs := b.ledger.AddKey(b.ledger.AddOperator("tide").GetId())
	want(t, b.send("DELETE", one, "", bearer(theirs)), 404, "not_found")
	if w := b.send("GET", "/api/protocol/v1/grants", "", bearer(theirs)); w.Body.String() != `{"grants":[]}` {
		t.Errorf("another operator sees %s", w.Body)
	}
}

// TestGrantsOfTheSession: the first-party routes, which no other site can use.
func TestGrantsOfTheSession(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	access, _, grantID := b.connect(b.register("public"))
	one := "/api/user/grants/" + grantID
	w := b.send("GET", "/api/user/grants", "", b.bySession())
	want(t, w, 200, "")
	if !strings.Contains(w.Body.String(), grantID) || !strings.Contains(w.Body.String(), `"name":"Weather desk"`) {
		t.Errorf("%s", w.Body)
	}
	want(t, b.send("DELETE", one, "", with("Cookie", b.cookie), with("Origin", "https://evil.example")), 403, "forbidden")
	want(t, b.send("GET", mePath, "", bearer(access)), 200, "")
	want(t, b.send("DELETE", one, "", b.bySession()), 200, "")
	want(t, b.send("DELETE", one, "", b.bySession()), 200, "")
	want(t, b.send("GET", mePath, "", bearer(access)), 401, "unauthenticated")
	want(t, b.send("DELETE", "/api/user/grants/0199f0a4-0000-7000-8000-00000000ffff", "", b.bySession()), 404, "not_found")
}

// TestGrantLimit: sixty calls a minute of one grant, whatever its tokens are.
func TestGrantLimit(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	a := b.register("public")
	access, refresh, _ := b.connect(a)
	w := b.post(tokenPath, url.Values{"grant_type": {"refresh_token"}, "client_id": {a.ID}, "refresh_token": {refresh}})
	want(t, w, 200, "")
	next := field(w, "access_token")
	for i := range 60 {
		token := access
		if i%2 == 1 {
			token = next
		}
		want(t, b.send("GET", mePath, "", bearer(token)), 200, "")
	}
	want(t, b.send("GET", mePath, "", bearer(next)), 429, "rate_limited")
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", mePath, "", bearer(next)), 200, "")
}

// TestCookiesAreNotRead (S23): a good session opens nothing on the protocol, and
// nothing there sets a cookie.
func TestCookiesAreNotRead(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
	cells := 0
	for _, r := range b.server.Table() {
		if !strings.HasPrefix(r.Path, "/api/protocol/") {
			continue
		}
		target := strings.NewReplacer(":appId", "x", ":id", "mara_k", ":grantId", "x").Replace(r.Path)
		w := b.send(r.Method, target, `{}`, b.bySession())
		if w.Header().Get("Set-Cookie") != "" || w.Header().Get("Vary") == "Cookie" {
			t.Errorf("%s %s: %v", r.Method, r.Path, w.Header())
		}
		if !contains(r.Who, "public") && w.Code != 401 && !contains(r.Who, "client") {
			t.Errorf("%s %s with cookies: %d", r.Method, r.Path, w.Code)
		}
		if contains(r.Who, "session") {
			t.Errorf("%s %s takes a session", r.Method, r.Path)
		}
		cells++
	}
	if cells < 10 {
		t.Errorf("only %d routes", cells)
	}
}

// TestPassports: who somebody is, by id and by handle.
func TestPassports(t *testing.T) {
	t.Parallel()
	b := setup(t)
	byHandle := b.send("GET", "/api/protocol/v1/passports/Mara_K", "")
	want(t, byHandle, 200, "")
	byID := b.send("GET", "/api/protocol/v1/passports/"+strings.ToUpper(b.mara.GetId()), "")
	if byID.Body.String() != byHandle.Body.String() {
		t.Errorf("%s and %s", byID.Body, byHandle.Body)
	}
	golden(t, "protocol/passport", byHandle)
	b.file("YES", 3150, b.bySession())
	tide := b.ledger.AddOperator("tide")
	mara := operator.ID(b.mara.GetId())
	if err := b.people.Follow(t.Context(), operator.Operator{ID: operator.ID(tide.GetId()), Handle: "tide"}, operator.Operator{ID: mara, Handle: "mara_k"}, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := b.people.KeepClaim(t.Context(), mara, claim.Claim{Station: "partner", Identity: wallet, VerifiedAt: b.clock.Now(), ProfileURL: "https://partner.example/u/" + wallet}); err != nil {
		t.Fatal(err)
	}
	golden(t, "protocol/passport_full", b.send("GET", "/api/protocol/v1/passports/mara_k", ""))
	for _, id := range []string{"nobody", "0199f0a4-0000-7000-8000-00000000ffff", "x", "a%20b"} {
		want(t, b.send("GET", "/api/protocol/v1/passports/"+id, ""), 404, "not_found")
	}
}

// TestDiscovery: the documents of RFC 8414 and RFC 9728.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	own := b.send("GET", "/api/protocol/v1", "")
	golden(t, "protocol/issuer", own)
	if twin := b.send("GET", "/.well-known/oauth-authorization-server/api/protocol/v1", ""); twin.Body.String() != own.Body.String() {
		t.Errorf("the twin says %s", twin.Body)
	}
	if own.Header().Get("Cache-Control") != "public, max-age=300" || own.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", own.Header())
	}
	golden(t, "protocol/resource", b.send("GET", "/.well-known/oauth-protected-resource/api/protocol/v1", ""))
	golden(t, "protocol/resource_mcp", b.send("GET", "/.well-known/oauth-protected-resource/api/protocol/v1/mcp", ""))
}

var secretOf = regexp.MustCompile(`das_[A-Za-z0-9_-]{43}`)

// TestApps: what an owner does with apps, and what everybody sees of them.
func TestApps(t *testing.T) {
	t.Parallel()
	b, _ := withDatabase(t)
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
	if want(t, w, 200, ""); field(w, "name") != "Tide desk" || field(w, "homepage") != "" || field(w, "type") != "confidential" || field(w, "clientSecret") != "" {
		t.Errorf("%s", w.Body)
	}
	for body, code := range map[string]string{
		`{"redirectUris":["http://localhost/cb"]}`: "invalid_redirect_uri", `{"scopes":["everything"]}`: "invalid_scope", `{"scopes":[]}`: "invalid_scope",
		`{"name":""}`: "invalid_request", `{"name":7}`: "invalid_request", `{"redirectUris":"x"}`: "invalid_request", `{"logoUrl":"http://x.example"}`: "invalid_request",
	} {
		if w := b.send("PATCH", one, body, byLogin("mara_k")); w.Code != 400 || field(w, "error") != code {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for _, c := range [][2]string{{"PATCH", one}, {"DELETE", one}, {"POST", one + "/secret"}} { // nobody else's
		want(t, b.send(c[0], c[1], `{}`, byLogin("tide")), 404, "not_found")
		want(t, b.send(c[0], c[1], `{}`, b.byKey()), 401, "unauthenticated")
		want(t, b.send(c[0], c[1], `{}`, b.bySession()), 401, "unauthenticated")
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
	if w := b.send("GET", "/api/protocol/v1/apps/"+public.ID, ""); field(w, "active") != "false" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	want(t, b.send("GET", "/api/protocol/v1/apps/x", ""), 404, "not_found")
}
