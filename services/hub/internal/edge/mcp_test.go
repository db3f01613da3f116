package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	agentPath  = "/api/mcp"
	agentPathP = "/api/protocol/v1/mcp"
	modern     = "2026-07-28"
)

// toolNames are the ten tools, as the list has them.
var toolNames = []string{
	"get_market", "get_operator", "get_program", "get_signal", "list_signals",
	"my_record", "search_markets", "set_live_signal", "submit_signal", "submit_signal_event",
}

// gatedTools are what the tools for some need: a permission, and a scope.
var gatedTools = map[string][2]string{
	"my_record": {"read", "profile:read"}, "set_live_signal": {"broadcast", "broadcast:goLive"},
	"submit_signal": {"signal", "signal:create"}, "submit_signal_event": {"signal", "signal:create"},
}

// say sends one message as a client of 2025-11-25 does.
func (b *bench) say(path, message string, headers ...header) *httptest.ResponseRecorder {
	accept := with("Accept", "application/json, text/event-stream")
	return b.send("POST", path, message, append([]header{accept, with("MCP-Protocol-Version", "2025-11-25")}, headers...)...)
}

func toolCall(name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
}

// used is what came of a tool: its result, or the error in it.
type used struct {
	status   int
	failed   bool
	protocol float64        // code of an error of the protocol
	body     map[string]any // of the text
	same     bool           // the structured content says the same
	raw      string
}

func (b *bench) use(path, name, arguments string, headers ...header) used {
	b.t.Helper()
	return read(b.t, b.say(path, toolCall(name, arguments), headers...))
}

func read(t testing.TB, w *httptest.ResponseRecorder) used {
	t.Helper()
	var answer struct {
		Result struct {
			IsError           bool
			Content           []struct{ Type, Text string }
			StructuredContent json.RawMessage
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	u := used{status: w.Code, failed: answer.Result.IsError, raw: w.Body.String()}
	var wrong struct{ Code float64 }
	if json.Unmarshal(answer.Error, &wrong) == nil {
		u.protocol = wrong.Code
	}
	if len(answer.Result.Content) == 1 {
		text := answer.Result.Content[0].Text
		if err := json.Unmarshal([]byte(text), &u.body); err != nil {
			t.Fatalf("the text is no JSON: %q", text)
		}
		u.same = text == string(answer.Result.StructuredContent)
	}
	return u
}

// arguments that each tool takes.
func (b *bench) arguments(signalID string) map[string]string {
	return map[string]string{
		"get_market": `{"marketId":"701122"}`, "get_operator": `{"handle":"mara_k"}`, "get_program": `{"limit":5}`,
		"get_signal": `{"id":"` + signalID + `"}`, "list_signals": `{"type":"open"}`, "my_record": `{}`, "search_markets": `{"query":"gauge"}`,
		"set_live_signal": `{"marketId":"701122","name":"Gauge"}`, "submit_signal": `{"marketId":"701122","direction":"YES","priceAtPrediction":3150}`,
		"submit_signal_event": `{"signalId":"` + signalID + `","type":"note","payload":{"text":"steady"}}`,
	}
}

// keyFor makes a key of an operator with these permissions.
func (b *bench) keyFor(name string, permissions ...string) header {
	b.t.Helper()
	words, err := json.Marshal(permissions)
	if err != nil {
		b.t.Fatal(err)
	}
	w := b.send("POST", "/api/dev/keys", `{"label":"x","permissions":`+string(words)+`}`, byLogin(name))
	want(b.t, w, 201, "")
	return bearer(field(w, "key"))
}

// TestAgentsHaveNoSession: a hub opens no session and answers a message that names the session of another hub, so that any
// hub can answer any message.
func TestAgentsHaveNoSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.byKey())
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, toolCall("get_market", `{"marketId":"701122"}`),
		toolCall("list_signals", `{"limit":2}`), toolCall("get_signal", `{"id":"`+id+`"}`), toolCall("my_record", `{}`),
	} {
		for _, headers := range [][]header{{b.byKey()}, {b.byKey(), with("Mcp-Session-Id", "a-session-of-another-hub")}} {
			w := b.say(agentPath, message, headers...)
			if u := read(t, w); u.status != 200 || u.failed || u.protocol != 0 || w.Header().Get("Mcp-Session-Id") != "" {
				t.Errorf("%s: session %q, %s", message, w.Header().Get("Mcp-Session-Id"), u.raw)
			}
		}
	}
}

func TestToolsAreListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		w := b.say(agentPath, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"protocolVersion":"`+version+`"`) || strings.Contains(w.Body.String(), "listChanged") {
			t.Errorf("initialize at %s: %d %s", version, w.Code, w.Body)
		}
		if w.Header().Get("Mcp-Session-Id") != "" {
			t.Error("a session was made")
		}
	}
	want(t, b.say(agentPath, `{"jsonrpc":"2.0","method":"notifications/initialized"}`), 202, "")
	var list struct {
		Result struct {
			Tools []struct{ Name string }
		}
	}
	w := b.say(agentPath, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	var names []string
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
	}
	if strings.Join(names, " ") != strings.Join(toolNames, " ") {
		t.Errorf("%v", names)
	}
}

// TestEveryToolRuns: each tool answers, in the text as in the structure, and with what
// its route answers.
func TestEveryToolRuns(t *testing.T) {
	t.Parallel()
	store, _ := stored(t)
	b := setup(t, store)
	id := b.file("YES", 3150, b.byKey())
	lena := b.keyFor("lena", "read", "signal", "broadcast")
	for name, arguments := range b.arguments(id) {
		key := lena
		if name == "submit_signal_event" {
			key = b.byKey()
		}
		u := b.use(agentPath, name, arguments, key)
		if u.status != 200 || u.failed || !u.same || len(u.body) == 0 {
			t.Errorf("%s: %s", name, u.raw)
		}
		fitsTool(t, name, u)
	}
	fitsTool(t, "get_operator", b.use(agentPath, "get_operator", `{"limit":1}`))
	for tool, nothing := range map[string]string{"search_markets": `{"query":"nobody asked this"}`, "list_signals": `{"type":"beat_crowd"}`} {
		u := b.use(agentPath, tool, nothing)
		if fitsTool(t, tool, u); u.failed {
			t.Errorf("%s that finds nothing: %s", tool, u.raw)
		}
	}
	if got := b.ledger.Signals[1]; got.Signal.GetHandle() != "lena" || got.Signal.GetSource() != "api" {
		t.Errorf("filed as %v", got.Signal)
	}
	for tool, target := range map[string][2]string{
		"get_market": {`{"marketId":"701122"}`, "/api/network/market/701122"}, "my_record": {`{}`, "/api/network/field-record/me"},
		"get_operator": {`{"handle":"MARA_K"}`, "/api/operator/mara_k"}, "list_signals": {`{"type":"recent","limit":3}`, "/api/signals/feed?limit=3"},
		"search_markets": {`{"query":"gauge","lane":"SCIENCE"}`, "/api/polymarket/markets?q=gauge&lane=SCIENCE"}, "get_program": {`{"preset":"hot"}`, "/api/network/program?preset=hot&lanes=0"},
	} {
		w := b.send("GET", target[1], "", func(r *http.Request) {
			if tool == "my_record" {
				lena(r)
			}
		})
		if u := b.use(agentPath, tool, target[0], lena); !strings.Contains(u.raw, `"structuredContent":`+w.Body.String()) {
			t.Errorf("%s: %s\n%s", tool, u.raw, w.Body)
		}
	}
}

// contextWithLocal is a request's context on a connection to that address.
func contextWithLocal(r *http.Request, addr net.Addr) context.Context {
	return context.WithValue(r.Context(), http.LocalAddrContextKey, addr)
}
