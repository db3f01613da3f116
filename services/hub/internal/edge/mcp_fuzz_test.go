package edge_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// FuzzAgentMessage: whatever comes, nothing breaks, nothing runs for nobody, and every
// answer is JSON or none.
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
		if n := b.ledger.Count("File"); n != 0 {
			t.Errorf("%q filed", message)
		}
	})
}
