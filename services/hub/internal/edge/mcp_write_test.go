package edge_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// fitsTool checks a result against the schema that the tool shows.
func fitsTool(t testing.TB, tool string, u used) {
	t.Helper()
	raw, err := os.ReadFile("mcp/" + tool + ".out.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(any(u.body)); err != nil {
		t.Errorf("%s answered what its schema does not have: %v\n%s", tool, err, u.raw)
	}
}

// failsWith checks that a tool said no as its route does.
func (u used) failsWith(t testing.TB, code string) {
	t.Helper()
	if u.status != 200 || !u.failed || u.body["error"] != code {
		t.Errorf("%d %s, want %s", u.status, u.raw, code)
	}
}

// TestDryRuns: everything is checked, what would be is told, nothing is.
func TestDryRuns(t *testing.T) {
	t.Parallel()
	store, db := stored(t)
	b := setup(t, store)
	all := b.keyFor("mara_k", "read", "signal", "broadcast")
	draft := `{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"confidence":80,"textTake":"rivers","dryRun":true}`
	u := b.use(agentPath, "submit_signal", draft, all)
	fitsTool(t, "submit_signal", u)
	if u.failed || u.body["dryRun"] != true || u.body["id"] != nil || u.body["callsign"] != "mara_k" || u.body["direction"] != "NO" ||
		u.body["priceAtPrediction"] != 6850.0 || u.body["source"] != "api" || u.body["status"] != "pending" {
		t.Errorf("%s", u.raw)
	}
	for _, spelt := range []string{"6850.0", "6.85e3"} { // integers to a JSON Schema
		if u := b.use(agentPath, "submit_signal", strings.Replace(draft, "6850", spelt, 1), all); u.failed || u.body["priceAtPrediction"] != 6850.0 {
			t.Errorf("%s: %s", spelt, u.raw)
		}
	}
	b.ledger.Unconfirmed = map[string]bool{"405": true}
	u = b.use(agentPath, "submit_signal", strings.Replace(draft, "701122", "405", 1), all)
	fitsTool(t, "submit_signal", u)
	if rated, has := u.body["rated"]; u.failed || rated != nil || !has {
		t.Errorf("on an unconfirmed market: %s", u.raw)
	}
	if len(b.ledger.Signals) != 0 || b.ledger.Count("File") != 0 {
		t.Error("a dry run filed")
	}
	filed := b.use(agentPath, "submit_signal", strings.Replace(draft, "true", "false", 1), all)
	id, _ := filed.body["id"].(string)
	if filed.failed || len(b.ledger.Signals) != 1 || id == "" {
		t.Fatalf("%s", filed.raw)
	}
	if u := b.use(agentPath, "submit_signal", draft, all); u.body["id"] != id {
		t.Errorf("the lock is not seen: %s", u.raw)
	} else {
		u.failsWith(t, "already_predicted")
	}
	note := `{"signalId":"` + id + `","type":"note","payload":{"text":"steady"},"dryRun":true}`
	u = b.use(agentPath, "submit_signal_event", note, all)
	fitsTool(t, "submit_signal_event", u)
	if u.failed || u.body["dryRun"] != true || u.body["id"] != nil || u.body["type"] != "note" || len(b.ledger.Signals[0].Events) != 0 {
		t.Errorf("%s", u.raw)
	}
	b.use(agentPath, "submit_signal_event", note, b.keyFor("lena", "signal")).failsWith(t, "forbidden")
	overlay := `{"marketId":"701122","name":"Gauge","dryRun":true}`
	u = b.use(agentPath, "set_live_signal", overlay, all)
	fitsTool(t, "set_live_signal", u)
	if u.failed || u.body["dryRun"] != true || u.body["streamerId"] != "mara_k" || u.body["yesPct"] != 31.5 {
		t.Errorf("%s", u.raw)
	}
	fitsTool(t, "set_live_signal", b.use(agentPath, "set_live_signal", `{"clear":true,"dryRun":true}`, all))
	for _, table := range []string{"overlay_signals", "outbox"} {
		var n int
		if err := db.QueryRow(t.Context(), "SELECT count(*) FROM hub."+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows of %s: %v", n, table, err)
		}
	}
	fitsTool(t, "set_live_signal", b.use(agentPath, "set_live_signal", strings.Replace(overlay, "true", "false", 1), all))
	if field(b.send("GET", overlayURL+"?handle=mara_k", ""), "marketId") != "701122" {
		t.Error("the signal was not set")
	}
	fitsTool(t, "set_live_signal", b.use(agentPath, "set_live_signal", `{"clear":true}`, all))
	if field(b.send("GET", overlayURL+"?handle=mara_k", ""), "marketId") != "" {
		t.Error("the signal was not cleared")
	}
}

// TestToolMistakes: what does not fit is named as the route names it, and an argument
// that nobody knows is refused: nobody can be named in one.
func TestToolMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := b.keyFor("mara_k", "read", "signal", "broadcast")
	none := "0199f0a4-0000-7000-8000-00000000ffff"
	b.ledger.Lock()
	b.ledger.Markets["9"] = b.ledger.Markets[nativeID]
	b.ledger.Unlock()
	n := 0
	for _, c := range [][3]string{
		{"get_market", `{}`, "missing_market_id"},
		{"get_market", `{"marketId":7}`, "invalid_market_id"},
		{"get_market", `{"marketId":"404"}`, "not_found"},
		{"get_market", `{"marketId":"x:1"}`, "not_found"},
		{"get_market", `{"marketId":"1","handle":"joe"}`, "invalid_body"},
		{"get_market", `{"marketId":"1","marketId":"2"}`, ""},
		{"get_market", `{"MARKETID":"1"}`, "invalid_body"},
		{"get_operator", `{"handle":"nobody_there"}`, "not_found"},
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
		{"submit_signal", `{"marketId":"404","direction":"YES","priceAtPrediction":1,"dryRun":true}`, "market_not_found"},
		{"submit_signal_event", `{"type":"note"}`, "missing_signal_id"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"resolved"}`, "invalid_type"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"note","payload":{}}`, "invalid_payload"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"reaffirm","dryRun":true}`, "not_found"},
		{"submit_signal_event", `{"signalId":"` + none + `","type":"reaffirm"}`, "not_found"},
	} {
		b.clock.Advance(2e9)
		n++
		w := b.say(agentPath, toolCall(c[0], c[1]), all)
		if c[2] == "" { // a member twice: the message itself is none
			if w.Code != 400 || !strings.Contains(w.Body.String(), "-32700") {
				t.Errorf("%s %s: %d %s", c[0], c[1], w.Code, w.Body)
			}
			continue
		}
		u := read(t, w)
		if u.failsWith(t, c[2]); t.Failed() {
			t.Fatalf("%s %s", c[0], c[1])
		}
	}
	if n < 30 || len(b.ledger.Signals) != 0 {
		t.Errorf("%d cases, %d calls", n, len(b.ledger.Signals))
	}
	// Values of another type are refused by the name of their argument.
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
			if err != nil {
				t.Fatal(err)
			}
			if u := b.use(agentPath, "submit_signal", string(raw), all); u.status != 200 || !u.failed || u.body["field"] != argument {
				t.Errorf("%s %s: %s", argument, value, u.raw)
			}
		}
	}
	// A tool that writes acts for the owner of the key and takes no argument that names another person.
	for tool := range gatedTools {
		for _, name := range []string{"handle", "userId", "operatorId", "actor", "privyId", "key", "authorization", "_meta"} {
			b.clock.Advance(2e9)
			u := b.use(agentPath, tool, `{"`+name+`":"lena",`+strings.TrimPrefix(b.arguments(none)[tool], "{"), all)
			if tool == "my_record" {
				u = b.use(agentPath, tool, `{"`+name+`":"lena"}`, all)
			}
			if u.failsWith(t, "invalid_body"); u.body["field"] != name {
				t.Errorf("%s with %s: %s", tool, name, u.raw)
			}
		}
	}
	for _, arguments := range []string{`[]`, `7`, `"x"`} {
		b.use(agentPath, "get_market", arguments).failsWith(t, "invalid_body")
	}
}

// TestToolsByToken: at P/mcp the tools are for tokens that were made for it, and ask for
// scopes; S24 in both directions.
func TestToolsByToken(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	a := b.register("public", "scopes", `["profile:read","signal:create","broadcast:goLive","prediction:create","offline_access"]`)
	scopes := "profile:read signal:create broadcast:goLive prediction:create"
	mcp, _, _ := b.connect(a, "scope", scopes, "resource", issuer+"/mcp")
	other, _, _ := b.connect(a, "scope", scopes)
	metadata := `resource_metadata="` + hubURL + `/.well-known/oauth-protected-resource/api/protocol/v1/mcp"`
	for tool, needs := range gatedTools {
		arguments := b.arguments("0199f0a4-0000-7000-8000-00000000ffff")[tool]
		w := b.say(agentPathP, toolCall(tool, arguments))
		want(t, w, 401, "unauthenticated")
		says(t, w, `Bearer scope="`+needs[1]+`"`, metadata)
		lacking, _, _ := b.connect(a, "scope", strings.Join(strings.Fields(strings.Replace(scopes, needs[1], "", 1)), " "), "resource", issuer+"/mcp")
		w = b.say(agentPathP, toolCall(tool, arguments), bearer(lacking))
		want(t, w, 403, "insufficient_scope")
		says(t, w, `error="insufficient_scope"`, `scope="`+needs[1]+`"`, metadata)
		only, _, _ := b.connect(a, "scope", needs[1], "resource", issuer+"/mcp")
		w = b.say(agentPathP, toolCall(tool, arguments), bearer(only))
		want(t, w, 200, "")
		for _, wrong := range []header{bearer(other), b.byKey(), byLogin("mara_k"), bearer("dat_" + strings.Repeat("A", 43))} {
			w := b.say(agentPathP, toolCall(tool, arguments), wrong)
			want(t, w, 401, "unauthenticated")
			says(t, w, `error="invalid_token"`, metadata)
		}
		w = b.say(agentPath, toolCall(tool, arguments), bearer(mcp))
		want(t, w, 401, "unauthenticated")
		if strings.Contains(w.Header().Get("WWW-Authenticate"), "resource_metadata") {
			t.Error("a token is asked for where none is taken")
		}
		b.clock.Advance(60e9)
	}
	want(t, b.send("POST", predictPath, `{"marketId":"701122","position":"YES"}`, bearer(mcp)), 401, "unauthenticated")
	want(t, b.say(agentPathP, toolCall("get_market", `{"marketId":"701122"}`)), 200, "")
	b.ledger.Lock()
	owner := b.ledger.Signals[0].Owner
	b.ledger.Unlock()
	if owner != b.mara.GetId() {
		t.Errorf("filed for %s", owner)
	}
	if u := b.use(agentPathP, "my_record", `{}`, bearer(mcp)); u.body["handle"] != "mara_k" {
		t.Errorf("%s", u.raw)
	}
}
