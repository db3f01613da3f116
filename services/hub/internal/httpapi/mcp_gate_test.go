package httpapi_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi"
)

// TestMalformedMessagesRunNoTool (docs/security.md S58) sends messages that the credential check and the MCP library could parse
// differently, and checks that none runs a tool without a credential.
func TestMalformedMessagesRunNoTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	arguments := `{"marketId":"701122","direction":"YES","priceAtPrediction":3150}`
	params := `{"name":"submit_signal","arguments":` + arguments + `}`
	for name, c := range map[string]struct {
		message string
		status  int
		says    string
	}{
		"a batch":                     {`[` + toolCall("submit_signal", arguments) + `]`, 400, `-32600`},
		"a batch behind spaces":       {" \n\t[" + toolCall("submit_signal", arguments) + `]`, 400, `-32600`},
		"another Name":                {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_signal","Name":"search_markets","arguments":` + arguments + `}}`, 401, "unauthenticated"},
		"another Method":              {`{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"tools/list","params":` + params + `}`, 401, "unauthenticated"},
		"an escaped slash":            {`{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":` + params + `}`, 401, "unauthenticated"},
		"an escaped method":           {`{"jsonrpc":"2.0","id":1,"method":"tools\u002fcall","params":` + params + `}`, 401, "unauthenticated"},
		"an escaped name":             {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit\u005fsignal","arguments":` + arguments + `}}`, 401, "unauthenticated"},
		"another name twice":          {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_market","name":"submit_signal","arguments":` + arguments + `}}`, 400, `-32700`},
		"another method twice":        {`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":` + params + `}`, 400, `-32700`},
		"other Params":                {`{"jsonrpc":"2.0","id":1,"method":"tools/call","Params":{"name":"get_market"},"params":` + params + `}`, 401, "unauthenticated"},
		"a second message behind it":  {toolCall("get_market", `{}`) + toolCall("submit_signal", arguments), 400, `-32700`},
		"a notification":              {`{"jsonrpc":"2.0","method":"tools/call","params":` + params + `}`, 0, ""},
		"a name in another case":      {toolCall("Submit_Signal", arguments), 200, `-32602`},
		"a name with a space":         {toolCall("submit_signal ", arguments), 200, `-32602`},
		"a name behind a byte order":  {"\ufeff" + toolCall("submit_signal", arguments), 400, `-32700`},
		"a name with a zero":          {toolCall(`submit_signal`, arguments)[:60] + "\x00", 400, `-32700`},
		"nothing":                     {"null", 400, `-32700`},
		"a broken number as the id":   {`{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, 400, `-32600`},
		"a number that is too long":   {`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"tools/list"}`, 400, `-32600`},
		"a member with the same case": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"submit_signal","name":"submit_signal","arguments":` + arguments + `}}`, 401, "unauthenticated"},
	} {
		for _, path := range []string{agentPath, agentPathP} {
			w := b.sendMCP(path, c.message)
			if c.status != 0 && (w.Code != c.status || !strings.Contains(w.Body.String(), c.says)) {
				t.Errorf("%s at %s: %d %s, want %d %s", name, path, w.Code, w.Body, c.status, c.says)
			}
			if w.Code >= 500 {
				t.Errorf("%s at %s: %d", name, path, w.Code)
			}
		}
	}
	equal(t, b.ledger.Count("File")+b.ledger.Count("RehearseFile"), 0)
}

// TestEveryToolAndEveryKey (docs/security.md S59) calls each tool without a key, with invalid credentials of each kind, and with
// keys that have one permission. A tool that requires a permission refuses all keys without it.
func TestEveryToolAndEveryKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.byKey())
	revoked := b.byRevokedKey()
	keys := map[string]header{}
	for _, p := range []string{"read", "signal", "broadcast"} {
		keys[p] = b.keyFor(p, p)
	}
	codes := map[int]string{401: "unauthenticated", 403: "insufficient_scope"}
	for name, arguments := range b.arguments(id) {
		needs := gatedTools[name][0]
		check := func(who string, status int, challenge string, headers ...header) {
			t.Helper()
			b.clock.Advance(2 * time.Second)
			w := b.sendMCP(agentPath, toolCall(name, arguments), headers...).as(name + " with " + who)
			want(t, w, status, codes[status], "Www-Authenticate: "+challenge)
		}
		for who, h := range map[string]header{
			"a revoked key": revoked, "a malformed key": bearer("dk_short"), "an unknown key": bearer("dk_" + strings.Repeat("A", 43)),
			"an app token": bearer("dat_" + strings.Repeat("A", 43)), "an identity token": byLogin("mara_k"), "another scheme": with("Authorization", "Basic eDp5"),
		} {
			check(who, 401, `Bearer error="invalid_token"`, h)
		}
		if needs == "" {
			check("no key", 200, "")
		} else {
			check("no key", 401, `Bearer scope="`+needs+`"`)
		}
		for who, h := range map[string]header{"a session": b.bySession(), "the administrators' secret": byAdmin()} {
			check(who, map[bool]int{true: 200, false: 401}[needs == ""], map[bool]string{false: `Bearer scope="` + needs + `"`}[needs == ""], h)
		}
		for p, h := range keys {
			if needs == "" || p == needs {
				check("a key for "+p, 200, "", h)
			} else {
				check("a key for "+p, 403, `Bearer error="insufficient_scope", scope="`+needs+`"`, h)
			}
		}
	}
}

// byRevokedKey returns a revoked key of mara_k.
func (b *fixture) byRevokedKey() header {
	b.t.Helper()
	w := b.send("POST", "/api/dev/keys", `{"label":"revoked","permissions":["read","signal","broadcast"]}`, byLogin("mara_k"))
	want(b.t, w, 201, "")
	want(b.t, b.send("DELETE", "/api/dev/keys?id="+field(w, "id"), "", byLogin("mara_k")), 200, "")
	return bearer(field(w, "key"))
}

// TestAgentOrigins checks that /api/mcp rejects a request from a page of another origin, even with a valid key.
func TestAgentOrigins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	list, hello := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	call := toolCall("submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":3150}`)
	for _, origins := range [][]string{
		{"null"},
		{""},
		{"https://evil.example"},
		{hubURL + ":8443"},
		{hubURL + ":1"},
		{hubURL + "/"},
		{"http://hub.example"},
		{"https://HUB.example"},
		{"HTTPS://hub.example"},
		{"https://user@hub.example"},
		{"https://hub.example.evil.example"},
		{"https://evil.example:443"},
		{"file://"},
		{"http://localhost:3000"},
		{"http://[::1]"},
		{hubURL, "https://evil.example"},
		{hubURL, hubURL},
		{hubURL + ", https://evil.example"},
	} {
		from := func(r *http.Request) { r.Header["Origin"] = origins }
		for _, message := range []string{list, hello, call} {
			want(t, b.sendMCP(agentPath, message, from, b.byKey()), 403, "forbidden")
			b.clock.Advance(time.Second)
		}
		want(t, b.sendMCP(agentPathP, list, from), 200, "") // a token does not come from a cookie, so any page may send it
	}
	equal(t, b.ledger.Count("File"), 0)
	want(t, b.sendMCP(agentPath, list), 200, "")
	want(t, b.sendMCP(agentPath, list, with("Origin", hubURL), b.byKey()), 200, "")
}

// TestAgentHosts checks that on a loopback address, the Host header must name this machine (DNS rebinding). A hub that is
// configured for a proxy on the same machine accepts any host.
func TestAgentHosts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	proxied := setup(t, func(cfg *httpapi.Config, _ *httpapi.Deps) { cfg.AnyHost = true })
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		local, host string
		status      int
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", 200},
		{"127.0.0.1:8080", "localhost:8080", 200},
		{"127.0.0.1:8080", "LOCALHOST", 200},
		{"127.0.0.1:8080", "[::1]:8080", 200},
		{"[::1]:8080", "127.0.0.2", 200},
		{"[::1]:8080", "[::ffff:127.0.0.1]:80", 200},
		{"127.0.0.1:8080", "evil.example", 403},
		{"127.0.0.1:8080", "evil.example:8080", 403},
		{"127.0.0.1:8080", "127.0.0.1.evil.example", 403},
		{"127.0.0.1:8080", "localhost.evil.example:8080", 403},
		{"[::1]:8080", "10.0.0.1", 403},
		{"[::1]:8080", "[fe80::1]:8080", 403},
		{"127.0.0.1:8080", "localhost.:8080", 403},
		{"127.0.0.1:8080", "localhost@evil.example", 403},
		{"127.0.0.1:8080", "0.0.0.0:8080", 403},
		{"127.0.0.1:8080", "2130706433:8080", 403},
		{"[::1]:8080", "[::]:8080", 403},
		{"[::1]:8080", "[2001:db8::1]:8080", 403},
		{"127.0.0.1:8080", "", 403},
		{"192.0.2.7:8080", "hub.example", 200},
	} {
		on := func(r *http.Request) {
			addr, err := net.ResolveTCPAddr("tcp", c.local)
			must(t, err)
			*r = *r.WithContext(contextWithLocal(r, addr))
			r.Host = c.host
		}
		for _, path := range []string{agentPath, agentPathP} {
			want(t, b.sendMCP(path, list, on), c.status, "")
			if c.status == 403 {
				want(t, b.sendMCP(path, list, on, with("Origin", hubURL)), 403, "forbidden")
			}
			want(t, proxied.sendMCP(path, list, on), 200, "")
		}
	}
}

// TestAgentTransport checks which methods, bodies, headers and protocol versions the agent endpoint rejects.
func TestAgentTransport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, method := range []string{"GET", "DELETE", "PUT", "PATCH", "HEAD"} {
		w := b.send(method, agentPath, "")
		if w.Code != 405 || !strings.Contains(w.Header().Get("Allow"), "POST") || strings.Contains(w.Header().Get("Allow"), "GET") {
			t.Errorf("%s: %d, %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"%s"}}`
	want(t, b.sendMCP(agentPath, fmt.Sprintf(list, strings.Repeat("x", 64<<10))), 413, "payload_too_large")
	want(t, b.sendMCP(agentPath, fmt.Sprintf(list, strings.Repeat("x", 60<<10))), 200, "")
	want(t, b.send("POST", agentPath, "", with("Accept", "*/*")), 415, "unsupported_media_type")
	for _, family := range []string{"prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list", "completion/complete", "logging/setLevel"} {
		has(t, b.sendMCP(agentPath, `{"jsonrpc":"2.0","id":1,"method":"`+family+`","params":{}}`), "-32601")
	}
	for id, want := range map[string]string{`7`: `"id":7`, `"q"`: `"id":"q"`} {
		w := b.sendMCP(agentPath, `{"jsonrpc":"2.0","id":`+id+`,"method":"nope/nothing","params":{}}`)
		has(t, w, want, "-32601", `"jsonrpc":"2.0"`)
		if w.Code != 200 {
			t.Errorf("unknown method: status %d, want 200: %s", w.Code, w.Body)
		}
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modernCall := func(message string, headers ...header) *answer {
		return b.send("POST", agentPath, message, append([]header{with("MCP-Protocol-Version", modern)}, headers...)...)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_market","arguments":{"marketId":"701122"},` + meta + `}}`
	want(t, modernCall(call, with("Mcp-Method", "tools/call"), with("Mcp-Name", "get_market")), 200, "", `"resultType"`)
	for _, headers := range [][]header{
		{with("Mcp-Method", "tools/list"), with("Mcp-Name", "get_market")},
		{with("Mcp-Method", "tools/call"), with("Mcp-Name", "get_signal")},
		{with("Mcp-Method", "tools/call"), with("Mcp-Name", "submit_signal")},
		{with("Mcp-Method", "tools/call"), with("Mcp-Name", "GET_MARKET")},
		{with("Mcp-Method", "tools/call")},
		{with("Mcp-Name", "get_market")},
		{},
	} {
		want(t, modernCall(call, headers...), 400, "", "-32020")
	}
	for header, body := range map[string]string{modern: "2099-01-01", "2099-01-01": "2099-01-01", "2025-11-25": modern} {
		message := strings.ReplaceAll(call, modern, body)
		w := b.send("POST", agentPath, message, with("MCP-Protocol-Version", header), with("Mcp-Method", "tools/call"), with("Mcp-Name", "get_market"))
		want(t, w, 400, "")
	}
	w := b.send("POST", agentPath, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, with("MCP-Protocol-Version", "1999-01-01"))
	if w.Code != 400 || !strings.Contains(w.Body.String(), "-32600") || !strings.Contains(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("an old version: %d %s", w.Code, w.Body)
	}
}
