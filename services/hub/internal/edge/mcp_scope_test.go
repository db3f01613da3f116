package edge_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// scopesOfTools are those that tools ask for, and one that none does.
var scopesOfTools = []string{"profile:read", "signal:create", "broadcast:goLive", "prediction:create"}

// TestEveryToolAndEveryScope: at P/mcp, each tool with tokens of every choice of scopes.
// All of them are shown the same list; what a token may not is 403 with the one scope that
// is missing, and does nothing.
func TestEveryToolAndEveryScope(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	words, err := json.Marshal(append([]string{"offline_access"}, scopesOfTools...))
	if err != nil {
		t.Fatal(err)
	}
	a := b.register("public", "scopes", string(words))
	id := b.file("YES", 3150, b.byKey())
	metadata := `, resource_metadata="` + hubURL + `/.well-known/oauth-protected-resource/api/protocol/v1/mcp"`
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	shown := b.say(agentPathP, list).Body.String()
	cells := 0
	for choice := 1; choice < 1<<len(scopesOfTools); choice++ {
		var scopes []string
		for i, scope := range scopesOfTools {
			if choice>>i&1 == 1 {
				scopes = append(scopes, scope)
			}
		}
		b.clock.Advance(time.Minute) // a session may not ask for so many grants at once
		access, _, _ := b.connect(a, "scope", strings.Join(scopes, " "), "resource", issuer+"/mcp")
		if w := b.say(agentPathP, list, bearer(access)); w.Code != 200 || w.Body.String() != shown {
			t.Errorf("with %v the list is another: %d %s", scopes, w.Code, w.Body)
		}
		for _, tool := range slices.Sorted(maps.Keys(b.arguments(id))) {
			cells++
			needs := gatedTools[tool][1]
			before := b.ledger.Count("File") + b.ledger.Count("AddEvent")
			w := b.say(agentPathP, toolCall(tool, b.arguments(id)[tool]), bearer(access))
			if needs == "" || slices.Contains(scopes, needs) {
				want(t, w, 200, "")
				continue
			}
			want(t, w, 403, "insufficient_scope")
			if got := w.Header().Get("WWW-Authenticate"); got != `Bearer error="insufficient_scope", scope="`+needs+`"`+metadata || field(w, "required") != needs {
				t.Errorf("%s with %v: %q %s", tool, scopes, got, w.Body)
			}
			if after := b.ledger.Count("File") + b.ledger.Count("AddEvent"); after != before {
				t.Errorf("%s with %v did something", tool, scopes)
			}
		}
	}
	if cells != 150 {
		t.Errorf("%d cells", cells)
	}
}

// TestAgentTokensEnd: a token is good for fifteen minutes, and not one request longer than
// its grant, whatever is asked. One for another address is none.
func TestAgentTokensEnd(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	a := b.register("public")
	connect := func(more ...string) (access, refresh, grant string) {
		return b.connect(a, append([]string{"scope", "profile:read offline_access"}, more...)...)
	}
	says401 := func(what, token string) {
		t.Helper()
		for _, message := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, toolCall("my_record", `{}`), toolCall("get_market", `{"marketId":"701122"}`), `[]`} {
			w := b.say(agentPathP, message, bearer(token))
			if w.Code != 401 || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), `Bearer error="invalid_token", resource_metadata="`) {
				t.Errorf("%s: %s: %d %q %s", what, message, w.Code, w.Header().Get("WWW-Authenticate"), w.Body)
			}
		}
	}
	good := func(token string) *httptest.ResponseRecorder {
		return b.say(agentPathP, toolCall("my_record", `{}`), bearer(token))
	}

	access, _, _ := connect("resource", issuer+"/mcp")
	b.clock.Advance(15*time.Minute - time.Second)
	want(t, good(access), 200, "")
	b.clock.Advance(time.Second)
	says401("it has ended", access)

	access, _, _ = connect("resource", issuer+"/mcp")
	want(t, good(access), 200, "")
	want(t, b.post(revokePath, url.Values{"token": {access}, "client_id": {a.ID}}), 200, "")
	says401("the app gave it back", access)

	access, refresh, _ := connect("resource", issuer+"/mcp")
	want(t, b.post(revokePath, url.Values{"token": {refresh}, "client_id": {a.ID}}), 200, "")
	says401("the app gave its grant back", access)
	says401("a refresh token", refresh)

	access, _, grant := connect("resource", issuer+"/mcp")
	want(t, b.send("DELETE", "/api/user/grants/"+grant, "", b.bySession()), 200, "")
	says401("the person ended it", access)

	access, _, _ = connect("resource", issuer+"/mcp")
	var mine struct{ Apps []struct{ AppID string } }
	if err := json.Unmarshal(b.send("GET", "/api/dev/apps", "", byLogin("mara_k")).Body.Bytes(), &mine); err != nil || len(mine.Apps) != 1 {
		t.Fatalf("%v %v", mine, err)
	}
	want(t, b.send("DELETE", "/api/dev/apps/"+mine.Apps[0].AppID, "", byLogin("mara_k")), 200, "")
	says401("the app is no more", access)

	a = b.register("public")
	for _, resource := range []string{"", issuer} {
		if access, _, _ = connect(); resource != "" {
			access, _, _ = connect("resource", resource)
		}
		says401("a token for "+resource, access)
	}
	for _, resource := range []string{
		issuer + "/mcp/", issuer + "/MCP", hubURL + "/api/mcp", "https://other.example/api/protocol/v1/mcp", "http://hub.example/api/protocol/v1/mcp", hubURL + ":443/api/protocol/v1/mcp", issuer + "/mcp?x=1", issuer + "/mcp#x",
	} {
		w := b.send("GET", a.asking("scope", "profile:read", "resource", resource), "", b.bySession())
		if to := w.Header().Get("Location"); w.Code != 400 || to != "" || !strings.Contains(w.Body.String(), "invalid_target") {
			t.Errorf("%s: %d %s", resource, w.Code, to)
		}
	}
}

// TestAgentMetadata: what a sign-in is read from, for the two resources that take tokens,
// and nothing for the one that takes keys.
func TestAgentMetadata(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	const wellKnown = "/.well-known/oauth-protected-resource"
	for path, resource := range map[string]string{"/api/protocol/v1": issuer, "/api/protocol/v1/mcp": issuer + "/mcp"} {
		w := b.send("GET", wellKnown+path, "", with("Origin", "https://app.example.com"))
		want(t, w, 200, "")
		var doc struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
			Methods  []string `json:"bearer_methods_supported"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Resource != resource || !slices.Equal(doc.Servers, []string{issuer}) || !slices.Equal(doc.Methods, []string{"header"}) || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %s %v", path, w.Body, w.Header())
		}
		for _, scope := range scopesOfTools[:3] {
			if !slices.Contains(doc.Scopes, scope) {
				t.Errorf("%s does not tell of %s", path, scope)
			}
		}
	}
	for _, path := range []string{"", "/api/mcp", "/api/protocol/v1/mcp/", "/api/protocol/v1/signals"} {
		want(t, b.send("GET", wellKnown+path, ""), 404, "not_found")
	}
}
