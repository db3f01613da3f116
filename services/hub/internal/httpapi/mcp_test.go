package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp/mcptest"
)

const (
	agentPath  = "/api/mcp"
	agentPathP = "/api/protocol/v1/mcp"
	modern     = "2026-07-28"
)

// toolNames are the names of the ten tools, in the order of the tool list.
var toolNames = []string{
	"get_market", "get_operator", "get_program", "get_signal", "list_signals",
	"my_record", "search_markets", "set_live_signal", "submit_signal", "submit_signal_event",
}

// gatedTools maps each tool that requires a credential to the permission of a key and the scope of a token that it needs.
var gatedTools = map[string][2]string{
	"my_record": {"read", "profile:read"}, "set_live_signal": {"broadcast", "broadcast:goLive"},
	"submit_signal": {"signal", "signal:create"}, "submit_signal_event": {"signal", "signal:create"},
}

// sendMCP sends one message as a client of protocol version 2025-11-25.
func (b *fixture) sendMCP(path, message string, headers ...header) *answer {
	accept := with("Accept", "application/json, text/event-stream")
	return b.send("POST", path, message, append([]header{accept, with("MCP-Protocol-Version", "2025-11-25")}, headers...)...)
}

func toolCall(name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
}

// toolResult is the result or the error of a tool call.
type toolResult struct {
	status   int
	failed   bool
	protocol float64        // code of a JSON-RPC error; 0: none
	body     map[string]any // decoded text content
	same     bool           // true if the structured content equals the text content
	raw      string
}

func (b *fixture) callTool(path, name, arguments string, headers ...header) toolResult {
	b.t.Helper()
	return read(b.t, b.sendMCP(path, toolCall(name, arguments), headers...))
}

func read(t testing.TB, w *answer) toolResult {
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
	u := toolResult{status: w.Code, failed: answer.Result.IsError, raw: w.Body.String()}
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

// arguments returns valid arguments for each tool. signalID is the id of a stored call.
func (b *fixture) arguments(signalID string) map[string]string {
	return map[string]string{
		"get_market": `{"marketId":"701122"}`, "get_operator": `{"handle":"mara_k"}`, "get_program": `{"limit":5}`,
		"get_signal": `{"id":"` + signalID + `"}`, "list_signals": `{"type":"open"}`, "my_record": `{}`, "search_markets": `{"query":"gauge"}`,
		"set_live_signal": `{"marketId":"701122","name":"Gauge"}`, "submit_signal": `{"marketId":"701122","direction":"YES","priceAtPrediction":3150}`,
		"submit_signal_event": `{"signalId":"` + signalID + `","type":"note","payload":{"text":"steady"}}`,
	}
}

// keyFor creates a key of the operator name with the given permissions.
func (b *fixture) keyFor(name string, permissions ...string) header {
	b.t.Helper()
	words, err := json.Marshal(permissions)
	must(b.t, err)
	w := b.send("POST", "/api/dev/keys", `{"label":"x","permissions":`+string(words)+`}`, byLogin(name))
	want(b.t, w, 201, "")
	return bearer(field(w, "key"))
}

// TestAgentsHaveNoSession checks that a hub starts no MCP session and accepts a message with the session id of another hub. Any
// hub can therefore handle any message.
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
			w := b.sendMCP(agentPath, message, headers...)
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
		w := b.sendMCP(agentPath, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		want(t, w, 200, "", `"protocolVersion":"`+version+`"`, "!listChanged", "Mcp-Session-Id: ")
	}
	want(t, b.sendMCP(agentPath, `{"jsonrpc":"2.0","method":"notifications/initialized"}`), 202, "")
	var list struct {
		Result struct {
			Tools []struct{ Name, Description string }
		}
	}
	w := b.sendMCP(agentPath, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
		t.Fatalf("%d %s %v", w.Code, w.Body, err)
	}
	var names []string
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
		if priced := slices.Contains([]string{"get_market", "list_signals", "search_markets", "submit_signal"}, tool.Name); priced != strings.Contains(tool.Description, "6550") {
			t.Errorf("the description of %s shows a price in its unit: %v; want %v: %s", tool.Name, !priced, priced, tool.Description)
		}
	}
	if size := len(w.Body.Bytes()); size > 36_000 {
		t.Errorf("the list of tools has %d bytes; every conversation of a model contains it", size)
	}
	equal(t, strings.Join(names, " "), strings.Join(toolNames, " "), names)
}

// TestEveryToolRuns checks that the text and the structured content of each tool result are equal, and equal to the answer of the
// corresponding route.
func TestEveryToolRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.byKey())
	lena := b.keyFor("lena", "read", "signal", "broadcast")
	for name, arguments := range b.arguments(id) {
		key := lena
		if name == "submit_signal_event" {
			key = b.byKey()
		}
		u := b.callTool(agentPath, name, arguments, key)
		if u.status != 200 || u.failed || !u.same || len(u.body) == 0 {
			t.Errorf("%s: %s", name, u.raw)
		}
		fitsTool(t, name, u)
	}
	fitsTool(t, "get_operator", b.callTool(agentPath, "get_operator", `{"limit":1}`))
	for tool, nothing := range map[string]string{"search_markets": `{"query":"no such market"}`, "list_signals": `{"type":"beat_crowd"}`} {
		u := b.callTool(agentPath, tool, nothing)
		if fitsTool(t, tool, u); u.failed {
			t.Errorf("%s returned no result: %s", tool, u.raw)
		}
	}
	if got := b.call(1); got.GetHandle() != "lena" || got.GetSource() != "api" {
		t.Errorf("filed as %v", got)
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
		if u := b.callTool(agentPath, tool, target[0], lena); !strings.Contains(u.raw, `"structuredContent":`+w.Body.String()) {
			t.Errorf("%s: %s\n%s", tool, u.raw, w.Body)
		}
	}
}

// contextWithLocal returns the context of a request whose connection has the local address addr.
func contextWithLocal(r *http.Request, addr net.Addr) context.Context {
	return context.WithValue(r.Context(), http.LocalAddrContextKey, addr)
}

// fitsTool checks a result against the output schema of the tool.
func fitsTool(t testing.TB, tool string, u toolResult) {
	t.Helper()
	mcptest.Fits(t, tool, u.body)
}

// is checks that a tool call succeeded and that its result has the given members. pairs are names and values.
func (u toolResult) is(t testing.TB, pairs ...any) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if name := pairs[i].(string); u.failed || u.body[name] != pairs[i+1] {
			t.Errorf("%s is %v, want %v: %s", name, u.body[name], pairs[i+1], u.raw)
		}
	}
}

// failsWith checks that a tool call failed with the given error code.
func (u toolResult) failsWith(t testing.TB, code string) {
	t.Helper()
	if u.status != 200 || !u.failed || u.body["error"] != code {
		t.Errorf("%d %s, want %s", u.status, u.raw, code)
	}
}

// TestDryRuns checks that a dry run of a tool makes all checks, returns the result that the write would return, and stores
// nothing.
func TestDryRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.keyFor("mara_k", "read", "signal", "broadcast")
	draft := `{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"confidence":80,"textTake":"rivers","dryRun":true}`
	u := b.callTool(agentPath, "submit_signal", draft, all)
	fitsTool(t, "submit_signal", u)
	u.is(t, "dryRun", true, "id", nil, "callsign", "mara_k", "direction", "NO", "priceAtPrediction", 6850.0, "source", "api",
		"status", "pending")
	for _, number := range []string{"6850.0", "6.85e3"} { // JSON Schema accepts both as integers
		b.callTool(agentPath, "submit_signal", strings.Replace(draft, "6850", number, 1), all).is(t, "priceAtPrediction", 6850.0)
	}
	u = b.callTool(agentPath, "submit_signal", strings.Replace(draft, "701122", "405", 1), all)
	fitsTool(t, "submit_signal", u)
	if rated, has := u.body["rated"]; u.failed || rated != nil || !has {
		t.Errorf("on an unconfirmed market: %s", u.raw)
	}
	equal(t, b.calls(), 0)
	equal(t, b.ledger.Count("File"), 0)
	filed := b.callTool(agentPath, "submit_signal", strings.Replace(draft, "true", "false", 1), all)
	id, _ := filed.body["id"].(string)
	if filed.failed || b.calls() != 1 || id == "" {
		t.Fatalf("%s", filed.raw)
	}
	if u := b.callTool(agentPath, "submit_signal", draft, all); u.body["id"] != id {
		t.Errorf("the dry run does not find the stored call: %s", u.raw)
	} else {
		u.failsWith(t, "already_predicted")
	}
	note := `{"signalId":"` + id + `","type":"note","payload":{"text":"steady"},"dryRun":true}`
	u = b.callTool(agentPath, "submit_signal_event", note, all)
	fitsTool(t, "submit_signal_event", u)
	u.is(t, "dryRun", true, "id", nil, "type", "note")
	equal(t, len(b.events(0)), 0)
	b.callTool(agentPath, "submit_signal_event", note, b.keyFor("lena", "signal")).failsWith(t, "forbidden")
	overlay := `{"marketId":"701122","name":"Gauge","dryRun":true}`
	u = b.callTool(agentPath, "set_live_signal", overlay, all)
	fitsTool(t, "set_live_signal", u)
	u.is(t, "dryRun", true, "streamerId", "mara_k", "yesPct", 31.5)
	fitsTool(t, "set_live_signal", b.callTool(agentPath, "set_live_signal", `{"clear":true,"dryRun":true}`, all))
	for _, table := range []string{"overlay_signals", "outbox WHERE type <> 'notification.created'"} { // the keys above were notified
		equal(t, b.count("hub."+table), 0, table)
	}
	fitsTool(t, "set_live_signal", b.callTool(agentPath, "set_live_signal", strings.Replace(overlay, "true", "false", 1), all))
	equal(t, field(b.send("GET", overlayURL+"?handle=mara_k", ""), "marketId"), "701122")
	fitsTool(t, "set_live_signal", b.callTool(agentPath, "set_live_signal", `{"clear":true}`, all))
	equal(t, field(b.send("GET", overlayURL+"?handle=mara_k", ""), "marketId"), "")
}

// TestToolMistakes checks that a tool rejects invalid arguments with the error codes of the corresponding route. It also rejects
// unknown arguments, so that no argument can name another operator.
func TestToolMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.keyFor("mara_k", "read", "signal", "broadcast")
	none := "0199f0a4-0000-7000-8000-00000000ffff"
	b.ledger.AddMarket(apitest.Market{ID: "9", Title: "Will the mill race be dry on Sunday?", Yes: 5000, YesPrice: 5000, NoPrice: 5000, Volume: 20_000})
	n := 0
	for _, c := range [][3]string{
		{"get_market", `{}`, "missing_market_id"},
		{"get_market", `{"marketId":7}`, "invalid_market_id"},
		{"get_market", `{"marketId":"404"}`, "not_found"},
		{"get_market", `{"marketId":"x:1"}`, "not_found"},
		{"get_market", `{"marketId":"1","handle":"joe"}`, "invalid_body"},
		{"get_market", `{"marketId":"1","marketId":"2"}`, ""},
		{"get_market", `{"MARKETID":"1"}`, "invalid_body"},
		{"get_operator", `{"handle":"no_such_user"}`, "not_found"},
		{"get_operator", `{"handle":"a b"}`, "not_found"},
		{"get_operator", `{"limit":41}`, "invalid_limit"},
		{"get_operator", `{"limit":0}`, "invalid_limit"},
		{"get_program", `{"preset":"loud"}`, "invalid_preset"},
		{"get_program", `{"limit":401}`, "invalid_limit"},
		{"get_signal", `{"id":"x"}`, "not_found"},
		{"get_signal", `{"id":"` + none + `"}`, "not_found"},
		{"list_signals", `{"type":"old"}`, "invalid_type"},
		{"list_signals", `{"limit":"5"}`, "invalid_limit"},
		{"my_record", `{"userId":"x"}`, "invalid_body"},
		{"search_markets", `{"lane":"NOWHERE"}`, "invalid_lane"},
		{"search_markets", `{"limit":101}`, "invalid_limit"},
		{"set_live_signal", `{"marketId":"701122"}`, "missing_name"},
		{"set_live_signal", `{"marketId":"701122","name":"x","yesPct":101}`, "invalid_yes_pct"},
		{"set_live_signal", `{"marketId":"701122","name":"x","clear":true}`, "invalid_clear"},
		{"set_live_signal", `{"marketId":"701122","name":"x","handle":"joe"}`, "invalid_body"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1,"handle":"joe"}`, "invalid_body"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1,"source":"web"}`, "invalid_body"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1e5}`, "invalid_price_at_prediction"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1,"dryRun":"yes"}`, "invalid_dry_run"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1,"dryRun":null}`, "invalid_dry_run"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1,"allowUnverified":"yes"}`, "invalid_allow_unverified"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1,"allowUnverified":null}`, "invalid_allow_unverified"},
		{"submit_signal", `{"marketId":"701122","direction":"YES","priceAtPrediction":1,"confidence":null}`, "invalid_confidence"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"reaffirm","dryRun":null}`, "invalid_dry_run"},
		{"set_live_signal", `{"marketId":"701122","name":"x","dryRun":null}`, "invalid_dry_run"},
		{"submit_signal", `{"marketId":"404","direction":"YES","priceAtPrediction":1}`, "market_not_found"},
		{"submit_signal", `{"marketId":"native-0000000404","direction":"YES","priceAtPrediction":1,"dryRun":true}`, "market_not_found"},
		{"submit_signal_event", `{"type":"note"}`, "missing_signal_id"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"resolved"}`, "invalid_type"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"note","payload":{}}`, "invalid_payload"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"reaffirm","dryRun":true}`, "not_found"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"reaffirm"}`, "not_found"},
	} {
		b.clock.Advance(2e9)
		n++
		w := b.sendMCP(agentPath, toolCall(c[0], c[1]), all)
		if c[2] == "" { // a duplicate member makes the message invalid
			want(t, w, 400, "", "-32700")
			continue
		}
		u := read(t, w)
		if u.failsWith(t, c[2]); t.Failed() {
			t.Fatalf("%s %s", c[0], c[1])
		}
	}
	if n < 30 || b.calls() != 0 {
		t.Errorf("%d cases, %d calls", n, b.calls())
	}
	// The error for a value of the wrong type names the argument.
	const text, integer = `7 true [] {}`, `"7" true [] {} 1.5 -1e-2 9223372036854775808 -9223372036854775809`
	for argument, values := range map[string]string{
		"marketId": text, "direction": text, "textTake": text, "marketTitle": text, "priceAtPrediction": integer, "confidence": integer,
	} {
		for value := range strings.FieldsSeq(values) {
			b.clock.Advance(2e9)
			arguments := map[string]json.RawMessage{
				"marketId": []byte(`"701122"`), "direction": []byte(`"YES"`), "priceAtPrediction": []byte(`3150`), argument: []byte(value),
			}
			raw, err := json.Marshal(arguments)
			must(t, err)
			if u := b.callTool(agentPath, "submit_signal", string(raw), all); u.status != 200 || !u.failed || u.body["field"] != argument {
				t.Errorf("%s %s: %s", argument, value, u.raw)
			}
		}
	}
	// A tool that writes acts for the owner of the key. An argument that names another operator is rejected.
	for tool := range gatedTools {
		for _, name := range []string{"handle", "userId", "operatorId", "actor", "privyId", "key", "authorization", "_meta"} {
			b.clock.Advance(2e9)
			u := b.callTool(agentPath, tool, `{"`+name+`":"lena",`+strings.TrimPrefix(b.arguments(none)[tool], "{"), all)
			if tool == "my_record" {
				u = b.callTool(agentPath, tool, `{"`+name+`":"lena"}`, all)
			}
			if u.failsWith(t, "invalid_body"); u.body["field"] != name {
				t.Errorf("%s with %s: %s", tool, name, u.raw)
			}
		}
	}
	for _, arguments := range []string{`[]`, `7`, `"x"`} {
		b.callTool(agentPath, "get_market", arguments).failsWith(t, "invalid_body")
	}
}

// scopesOfTools are the scopes that tools require, and one scope that no tool requires.
var scopesOfTools = []string{"profile:read", "signal:create", "broadcast:goLive", "prediction:create"}

// TestEveryToolAndEveryScope calls each tool at /api/protocol/v1/mcp with tokens of all combinations of scopes. All tokens get
// the same list of tools. A call without the required scope answers 403, names the scope and has no effect.
func TestEveryToolAndEveryScope(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	words, err := json.Marshal(append([]string{"offline_access"}, scopesOfTools...))
	must(t, err)
	a := b.register("public", "scopes", string(words))
	id := b.file("YES", 3150, b.byKey())
	metadata := `, resource_metadata="` + hubURL + `/.well-known/oauth-protected-resource/api/protocol/v1/mcp"`
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	shown := b.sendMCP(agentPathP, list).Body.String()
	cells := 0
	for choice := 1; choice < 1<<len(scopesOfTools); choice++ {
		var scopes []string
		for i, scope := range scopesOfTools {
			if choice>>i&1 == 1 {
				scopes = append(scopes, scope)
			}
		}
		b.clock.Advance(time.Minute) // the grants of a session per minute are limited
		access, _, _ := b.connect(a, "scope", strings.Join(scopes, " "), "resource", issuer+"/mcp")
		want(t, b.sendMCP(agentPathP, list, bearer(access)), 200, "", "="+shown)
		for _, tool := range slices.Sorted(maps.Keys(b.arguments(id))) {
			cells++
			needs := gatedTools[tool][1]
			before := b.ledger.Count("File") + b.ledger.Count("AppendEvent")
			w := b.sendMCP(agentPathP, toolCall(tool, b.arguments(id)[tool]), bearer(access))
			if needs == "" || slices.Contains(scopes, needs) {
				want(t, w, 200, "")
				continue
			}
			want(t, w, 403, "insufficient_scope")
			if got := w.Header().Get("WWW-Authenticate"); got != `Bearer error="insufficient_scope", scope="`+needs+`"`+metadata || field(w, "required") != needs {
				t.Errorf("%s with %v: %q %s", tool, scopes, got, w.Body)
			}
			equal(t, b.ledger.Count("File")+b.ledger.Count("AppendEvent"), before, tool, scopes)
		}
	}
	equal(t, cells, 150)
}

// TestAgentRefusals checks the refusals of /api/protocol/v1/mcp. A tool that requires a credential names its scope, and a message
// with an invalid bearer is rejected. A token for the endpoint can be requested only for exactly this resource.
func TestAgentRefusals(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	const scope, list = "profile:read", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	metadata := `resource_metadata="` + hubURL + `/.well-known/oauth-protected-resource/api/protocol/v1/mcp"`
	for tool, needs := range gatedTools {
		w := b.sendMCP(agentPathP, toolCall(tool, b.arguments("x")[tool]))
		want(t, w, 401, "unauthenticated")
		requireChallenge(t, w, `Bearer scope="`+needs[1]+`"`, metadata)
	}
	access, _, grant := b.connect(a, "scope", scope, "resource", issuer+"/mcp")
	elsewhere, _, _ := b.connect(a, "scope", scope)
	if u := b.callTool(agentPathP, "my_record", `{}`, bearer(access)); u.body["handle"] != "mara_k" {
		t.Errorf("%s", u.raw)
	}
	w := b.sendMCP(agentPath, list, bearer(access))
	if want(t, w, 401, "unauthenticated"); strings.Contains(w.Header().Get("WWW-Authenticate"), "resource_metadata") {
		t.Errorf("the challenge names token metadata at a route that accepts no tokens: %v", w.Header())
	}
	want(t, b.send("DELETE", "/api/user/grants/"+grant, "", b.bySession()), 200, "")
	for name, who := range map[string]header{
		"a token that ended": bearer(access), "a token for another resource": bearer(elsewhere), "a key": b.byKey(), "a login": byLogin("mara_k"),
	} {
		for _, message := range []string{
			list, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, toolCall("my_record", `{}`), toolCall("get_market", `{"marketId":"701122"}`), `[]`,
		} {
			want(t, b.sendMCP(agentPathP, message, who).as(name), 401, "", `Www-Authenticate: Bearer error="invalid_token", `+metadata)
		}
	}
	for _, resource := range []string{
		issuer + "/mcp/", issuer + "/MCP", hubURL + "/api/mcp", "https://other.example/api/protocol/v1/mcp",
		"http://hub.example/api/protocol/v1/mcp", hubURL + ":443/api/protocol/v1/mcp", issuer + "/mcp?x=1", issuer + "/mcp#x",
	} {
		w := b.send("GET", a.authorizeURL("scope", scope, "resource", resource), "", b.bySession())
		if to := w.Header().Get("Location"); w.Code != 400 || to != "" || !strings.Contains(w.Body.String(), "invalid_target") {
			t.Errorf("%s: %d %s", resource, w.Code, to)
		}
	}
}
