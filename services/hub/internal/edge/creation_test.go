package edge_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/creation"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

const (
	createPath  = "/api/protocol/v1/signals"
	predictPath = "/api/protocol/v1/predictions"
)

// attested reads an attested message and its payload.
func (b *bench) attested(id string) (body string, payload map[string]any) {
	b.t.Helper()
	w := b.send("GET", messagesPath+"/"+id, "")
	want(b.t, w, 200, "")
	var out struct {
		Attested bool
		Message  json.RawMessage
	}
	var m struct{ Payload map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || !out.Attested {
		b.t.Fatalf("not attested: %s", w.Body)
	}
	if err := json.Unmarshal(out.Message, &m); err != nil {
		b.t.Fatal(err)
	}
	if v := b.send("POST", messagesPath+"/verify", string(out.Message)); field(v, "valid") != "true" || field(v, "id") != id {
		b.t.Errorf("the attested message does not verify: %s", v.Body)
	}
	return string(out.Message), m.Payload
}

func TestCreationByKey(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	for path, c := range map[string]struct{ kind, body string }{
		predictPath: {"prediction.create", `{"marketId":"701122","position":"YES","priceBps":3150,"confidence":70,"take":"rivers","marketTitle":"Gauge","handle":"joe","denpaId":"x"}`},
		createPath:  {"signal.create", `{"eventId":"` + nativeID + `","signal":"NO","marketId":"` + nativeID + `","confidence":null}`},
	} {
		w := b.send("POST", path, c.body, b.byKey())
		want(t, w, 200, "")
		id := field(w, "id")
		if field(w, "ok") != "true" || field(w, "uri") != "denpa:"+b.mara.GetId()+"/signal/"+id || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %s", path, w.Body)
		}
		body, payload := b.attested(field(w, "messageId"))
		if payload["signalId"] != id || payload["credential"] != "operator_key" || payload["filedAt"] != "2026-09-18T12:00:00.000Z" ||
			!strings.Contains(body, `"type":"`+c.kind+`"`) || !strings.Contains(body, `"appId":null`) || !strings.Contains(body, b.mara.GetId()) {
			t.Errorf("attested %s", body)
		}
		d := b.ledger.LastDraft
		if d.GetSource() != "api" || payload["priceAtPrediction"] != float64(d.GetPriceBps()) {
			t.Errorf("filed as %v, attested %v", d, payload)
		}
		w = b.send("POST", path, c.body, b.byKey())
		if want(t, w, 409, "already_predicted"); field(w, "id") != id || field(w, "receiptUrl") == "" {
			t.Errorf("once more: %s", w.Body)
		}
	}
	if d := b.ledger.Signals; len(d) != 2 || d[0].Owner != b.mara.GetId() || d[1].Owner != b.mara.GetId() {
		t.Error("filed for somebody else")
	}
	if n := count(t, db, `SELECT count(*) FROM hub.attestations_due`); n != 0 {
		t.Errorf("%d attestations are due", n)
	}
}

func TestCreationByToken(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	a := b.register("public")
	w := b.redeem(a, b.approve(a.asking("scope", "signal:create")).Query().Get("code"))
	by := bearer(field(w, "access_token"))
	w = b.send("POST", predictPath, `{"marketId":"701122","position":"YES","priceBps":1}`, by)
	want(t, w, 403, "insufficient_scope")
	says(t, w, `scope="prediction:create"`)
	w = b.send("POST", createPath, `{"marketId":"701122","position":"YES","priceBps":3150}`, by)
	want(t, w, 200, "")
	body, payload := b.attested(field(w, "messageId"))
	if payload["credential"] != "app_token" || !strings.Contains(body, `"appId":"`+a.ID+`"`) || b.ledger.Signals[0].Owner != b.mara.GetId() {
		t.Errorf("attested %s", body)
	}
	if w = b.send("GET", messagesPath+"?appId="+a.ID, ""); !strings.Contains(w.Body.String(), `"attested":true`) {
		t.Errorf("not listed: %s", w.Body)
	}
}

func TestCreationRefusals(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	for body, name := range map[string]string{
		`{}`: "marketId", `{"marketId":"polymarket:1","position":"YES","priceBps":1}`: "marketId",
		`{"marketId":"701122"}`: "position", `{"marketId":"701122","position":"yes"}`: "position",
		`{"marketId":"701122","eventId":"1","position":"YES"}`:                             "eventId",
		`{"marketId":"701122","position":"YES","signal":"NO"}`:                             "signal",
		`{"marketId":"701122","position":"YES","priceBps":10001}`:                          "priceBps",
		`{"marketId":"701122","position":"YES","priceBps":"1"}`:                            "priceBps",
		`{"marketId":"701122","position":"YES","confidence":0}`:                            "confidence",
		`{"marketId":"701122","position":"YES","take":"` + strings.Repeat("ä", 501) + `"}`: "take",
		`{"marketId":"701122","position":"YES","marketTitle":7}`:                           "marketTitle",
	} {
		b.clock.Advance(2 * time.Second)
		w := b.send("POST", createPath, body, b.byKey())
		if want(t, w, 400, "invalid_request"); field(w, "field") != name {
			t.Errorf("%.60s: field %q", body, field(w, "field"))
		}
	}
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", createPath, `[]`, b.byKey()), 400, "invalid_body")
	want(t, b.send("POST", createPath, ``, b.byKey()), 415, "unsupported_media_type")
	want(t, b.send("POST", createPath, `{"marketId":"999","position":"YES","priceBps":1}`, b.byKey()), 404, "market_not_found")
	want(t, b.send("POST", createPath, `{"marketId":"999","position":"YES"}`, b.byKey()), 404, "market_not_found")
	// Ruling 12: without a price and without a young snapshot.
	b.ledger.Markets[marketID].YesBps = nil
	w := b.send("POST", createPath, `{"marketId":"701122","position":"YES"}`, b.byKey())
	if want(t, w, 400, "invalid_request"); field(w, "field") != "priceBps" {
		t.Errorf("no price: %s", w.Body)
	}
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"`+nativeID+`","outcome":"YES"}`, byAdmin()), 200, "")
	want(t, b.send("POST", createPath, `{"marketId":"`+nativeID+`","position":"YES","priceBps":1}`, b.byKey()), 409, "market_closed")
	for name, who := range map[string]header{"nobody": func(*http.Request) {}, "a session": b.bySession(), "a login": byLogin("mara_k"), "another's key": bearer("dk_" + strings.Repeat("A", 43))} {
		if w := b.send("POST", createPath, `{}`, who); w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
	want(t, b.send("POST", createPath, `{}`, bearer(b.keyWith("read", "broadcast"))), 403, "insufficient_scope")
	if n := len(b.ledger.Signals); n != 0 || count(t, db, `SELECT count(*) FROM hub.messages`) != 0 || count(t, db, `SELECT count(*) FROM hub.attestations_due`) != 0 {
		t.Errorf("%d calls were filed, or something is kept of them", n)
	}
}

// The side's own price where none is given.
func TestCreationAtTheMarketsPrice(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	want(t, b.send("POST", createPath, `{"marketId":"701122","position":"NO"}`, b.byKey()), 200, "")
	if got := b.ledger.LastDraft.GetPriceBps(); got != 6850 {
		t.Errorf("filed at %d", got)
	}
}

func TestCreationIdempotencyKey(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	const body = `{"marketId":"701122","position":"YES","priceBps":3150}`
	k := with("Idempotency-Key", "try-1")
	first := b.send("POST", createPath, body, b.byKey(), k)
	want(t, first, 200, "")
	if again := b.send("POST", createPath, body, b.byKey(), k); again.Body.String() != first.Body.String() {
		t.Errorf("again %s, first %s", again.Body, first.Body)
	}
	// On another route it is another key: the call that stands is in the way, not the key.
	want(t, b.send("POST", predictPath, body, b.byKey(), k), 409, "already_predicted")
	want(t, b.send("POST", predictPath, strings.Replace(body, marketID, nativeID, 1), b.byKey(), k), 200, "")
	want(t, b.send("POST", "/api/predictions", fullDraft, b.byKey(), k), 409, "already_predicted")
	want(t, b.send("POST", createPath, strings.Replace(body, "3150", "1", 1), b.byKey(), k), 409, "idempotency_key_reused")
	if n := count(t, db, `SELECT count(*) FROM hub.attestations_due`); n != 0 {
		t.Errorf("%d attestations are due", n)
	}
}

// A crash between the call and its attestation: the sweep makes up for it, once.
func TestSweepAttestsWhatWasFiled(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	for name, method := range map[string]string{"the answer of the filing": "File", "the reading": "GetSignal"} {
		b.ledger.After = func(_ context.Context, m string) error {
			if m == method {
				return memledger.ErrDB
			}
			return nil
		}
		b.ledger.Before = func(_ context.Context, m string) error {
			if m == "GetSignal" && method == "GetSignal" {
				return memledger.ErrDB
			}
			return nil
		}
		market := map[string]string{"File": marketID, "GetSignal": nativeID}[method]
		want(t, b.send("POST", createPath, `{"marketId":"`+market+`","position":"YES","priceBps":3150}`, b.byKey()), 503, "db_unavailable")
		b.ledger.After, b.ledger.Before = nil, nil
		want(t, b.send("POST", createPath, `{"marketId":"`+market+`","position":"YES","priceBps":3150}`, b.byKey()), 409, "already_predicted")
		if n, err := b.deps.Creations.Sweep(t.Context()); n != 0 || err != nil {
			t.Errorf("%s: %d attested at once, %v", name, n, err)
		}
		b.clock.Advance(time.Minute)
		if n, err := b.deps.Creations.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("%s: %d attested, %v", name, n, err)
		}
	}
	// Nothing came of this one.
	b.ledger.Before = func(_ context.Context, m string) error {
		if m == "File" {
			return fault.New(fault.Unavailable, "signal_service_unavailable", "")
		}
		return nil
	}
	joe := b.ledger.AddOperator("joe_x")
	want(t, b.send("POST", createPath, `{"marketId":"701122","position":"YES","priceBps":3150}`, bearer(b.ledger.AddKey(joe.GetId()))), 503, "signal_service_unavailable")
	b.ledger.Before = nil
	b.clock.Advance(time.Minute)
	if n, err := b.deps.Creations.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("%d settled, %v", n, err)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages WHERE attested`); n != 2 || count(t, db, `SELECT count(*) FROM hub.attestations_due`) != 0 {
		t.Errorf("%d attested messages", n)
	}
}

// Every finalized market is attested in the hub's own name.
func TestFinalizeIsAttested(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	verdict := func(id string) *httptest.ResponseRecorder {
		return b.send("POST", "/api/resolution/finalize", object("marketId", id, "verdict", "NO", "reason", "peak 5.61 m", "proofUrl", "https://records.example/1"), byAdmin())
	}
	want(t, verdict(nativeID), 200, "")
	hub := creation.HubID(issuer)
	w := b.send("GET", messagesPath+"?denpaId="+hub+"&type=resolution.create", "")
	var list struct{ Messages []struct{ ID string } }
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Messages) != 1 {
		t.Fatalf("%v %s", err, w.Body)
	}
	_, p := b.attested(list.Messages[0].ID)
	if p["marketId"] != nativeID || p["verdict"] != "NO" || p["resolver"] != "manual" || p["source"] != "native" ||
		p["reason"] != "peak 5.61 m" || p["proofUrl"] != "https://records.example/1" {
		t.Errorf("attested %v", p)
	}
	want(t, verdict("native-0000000002"), 404, "market_not_found")
	b.clock.Advance(time.Minute)
	if _, err := b.deps.Creations.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 1 || count(t, db, `SELECT count(*) FROM hub.attestations_due`) != 0 {
		t.Errorf("%d messages, or something is still due", n)
	}
}

// S47: what the hub attested verifies with P/keys alone, in another language, after
// the key was replaced too.
func TestAttestedMessagesVerifyWithThePublishedKeys(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	w := b.send("POST", createPath, `{"marketId":"701122","position":"YES","take":"é\u2028\ud83c\udf0a"}`, b.byKey())
	old, _ := b.attested(field(w, "messageId"))
	ring, err := message.ParseHubKeys(`[{"seed":"` + strings.Repeat("5a", 32) + `","notBefore":"2026-09-18T12:30:00Z"},
		{"publicKey":"` + string(b.deps.Messages.Keys.All()[0].Key) + `","notBefore":"2026-01-01T00:00:00Z","notAfter":"2026-09-18T12:30:00Z"}]`)
	if err != nil {
		t.Fatal(err)
	}
	b.deps.Messages.Keys = ring
	b.clock.Advance(time.Hour)
	if v := b.send("POST", messagesPath+"/verify", old); field(v, "valid") != "true" {
		t.Errorf("after the rotation: %s", v.Body)
	}
	w = b.send("POST", predictPath, `{"marketId":"`+nativeID+`","position":"YES"}`, b.byKey())
	fresh, _ := b.attested(field(w, "messageId"))
	keys := b.send("GET", "/api/protocol/v1/keys", "")
	if strings.Count(keys.Body.String(), `"kid"`) != 2 || !strings.Contains(keys.Body.String(), `"notAfter":"2026-09-18T12:30:00.000Z"`) || keys.Header().Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("keys: %s", keys.Body)
	}
	if !nodeReady() {
		t.Log("no Node 20 or newer: the second language is left out")
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"keys.json": keys.Body.String(), "messages.json": "[" + old + "," + fresh + "]", "check.mjs": nodeCheck,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "check.mjs"), issuer)
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "2" {
		t.Errorf("%v: %s", err, out)
	}
}

func nodeReady() bool {
	out, err := exec.Command("node", "-p", "process.versions.node.split('.')[0]").Output()
	major, bad := strconv.Atoi(strings.TrimSpace(string(out)))
	return err == nil && bad == nil && major >= 20
}

// nodeCheck canonicalizes by itself: members sorted, strings as JSON.stringify has
// them, which is RFC 8785 for what these messages hold.
const nodeCheck = `
import { readFileSync } from 'node:fs';
import { createPublicKey, verify } from 'node:crypto';
const at = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const canon = (v) => Array.isArray(v) ? '[' + v.map(canon).join(',') + ']'
  : v && typeof v === 'object' ? '{' + Object.keys(v).sort().map((k) => JSON.stringify(k) + ':' + canon(v[k])).join(',') + '}'
  : JSON.stringify(v);
const keys = new Map(at('keys.json').keys.map((k) => [k.publicKey, k]));
let good = 0;
for (const { signature, ...m } of at('messages.json')) {
  const k = keys.get(m.signer.publicKey);
  if (!k || m.timestamp < Date.parse(k.notBefore) || (k.notAfter && m.timestamp >= Date.parse(k.notAfter))) continue;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(k.publicKey, 'hex').toString('base64url') }, format: 'jwk' });
  const data = Buffer.from('denpa-message-v1\n' + process.argv[2] + '\n' + canon(m));
  if (verify(null, data, key, Buffer.from(signature, 'hex'))) good++;
}
console.log(good);
`

func TestSchemas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, kind := range message.Types {
		w := b.send("GET", "/api/protocol/v1/schemas/"+string(kind), "")
		if want(t, w, 200, ""); !strings.Contains(w.Body.String(), "2020-12") {
			t.Errorf("%s: %s", kind, w.Body)
		}
	}
	plain := b.send("GET", "/api/protocol/v1/schemas/signal.create", "").Body.String()
	if own := b.send("GET", "/api/protocol/v1/schemas/signal.create?attested=1", "").Body.String(); own == plain || !strings.Contains(own, "filedAt") {
		t.Errorf("attested: %s", own)
	}
	want(t, b.send("GET", "/api/protocol/v1/schemas/signal", ""), 404, "not_found")
}
