package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// FuzzBodies checks that no request body causes a status 5xx.
func FuzzBodies(f *testing.F) {
	b := setup(f)
	id := b.file("YES", 3150, b.byKey())
	routes := []struct {
		path string
		who  header
	}{
		{"/api/predictions", b.byKey()},
		{"/api/signals/" + id + "/events", b.byKey()},
		{"/api/dev/keys", byLogin("mara_k")},
		{"/api/auth/privy", byLogin("mara_k")},
		{"/api/resolution/finalize", byAdmin()},
		{"/api/resolution/dispute", byAdmin()},
		{"/api/admin/resolve-signals", byAdmin()},
		{"/api/admin/markets", byAdmin()},
		{"/api/admin/operators", byAdmin()},
	}
	for _, body := range []string{
		fullDraft, `{"type":"take","payload":{"url":"https://v.example/1"}}`, `{"label":"x","permissions":["read"]}`,
		`{"marketId":"native-0000000001","verdict":"YES","proofUrl":"https://r.example"}`, `{"marketId":"701122","disputed":true}`,
		`{"marketId":"701122","outcome":"NO"}`, `{"question":"Will it rain on Sunday?","cutoffAt":"2026-11-30T23:00:00Z","lane":"TECH"}`,
		`{"handle":"mara_k","house":true}`, `[]`, `{"a":"\ud800"}`, `{"marketId":1e400}`, `{"priceAtPrediction":-0}`,
		"{\"marketId\":\"\u0663\"}", `{"type":"confidence","payload":{"confidence":9223372036854775808}}`, `{"cutoffAt":"0000-00-00T00:00:00Z"}`,
	} {
		for i := range routes {
			f.Add(uint(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, i uint, body string) {
		if body == "" {
			return // without a body, send omits the JSON content type
		}
		r := routes[i%uint(len(routes))]
		b.clock.Advance(time.Minute)
		if w := b.send("POST", r.path, body, r.who); w.Code >= http.StatusInternalServerError {
			t.Errorf("%s %q: %d %s", r.path, body, w.Code, w.Body)
		}
	})
}

// FuzzAgentMessage checks that no message to the agent endpoint causes a status 5xx. A body must be JSON, and an answer without a
// body must have status 202. A message without a credential must file no call.
func FuzzAgentMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":null}`, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":7}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":""}`, `{"jsonrpc":"2.0","id":1}`, `{}`, `null`, `7`, `"x"`, ``, `[[[[`, `{"a":`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_market","arguments":{"marketId":"701122"},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_signal","arguments":{"marketId":"701122","direction":"YES","priceAtPrediction":1}}}`,
	} {
		for _, version := range []string{"", "2025-11-25", modern, "x"} {
			f.Add(seed, version)
		}
	}
	b := setup(f)
	f.Fuzz(func(t *testing.T, message, version string) {
		b.clock.Advance(time.Second)
		var headers []header
		if version != "" {
			headers = append(headers, func(r *http.Request) { r.Header["Mcp-Protocol-Version"] = []string{version} })
		}
		w := b.send("POST", agentPath, message, append(headers, with("Content-Type", "application/json"))...)
		if w.Code >= 500 || w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) || w.Body.Len() == 0 && w.Code != 202 {
			t.Errorf("%q at %q: %d %q", message, version, w.Code, w.Body)
		}
		equal(t, b.ledger.Count("File"), 0, message)
	})
}
