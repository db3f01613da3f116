package httpapi_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

const (
	createPath  = "/api/protocol/v1/signals"
	predictPath = "/api/protocol/v1/predictions"
)

// attested returns the text and the payload of the message with the id. It fails the test unless the hub has attested the message
// and the signature is valid.
func (b *fixture) attested(id string) (body string, payload map[string]any) {
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
	must(b.t, json.Unmarshal(out.Message, &m))
	has(b.t, b.send("POST", messagesPath+"/verify", string(out.Message)), "valid=true", "id="+id)
	return string(out.Message), m.Payload
}

func TestCreationByKey(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for path, c := range map[string]struct{ kind, body string }{
		predictPath: {"prediction.create", `{"marketId":"701122","position":"YES","priceBps":3150,"confidence":70,"take":"rivers","marketTitle":"Gauge","handle":"joe","denpaId":"x"}`},
		createPath:  {"signal.create", `{"eventId":"` + nativeID + `","signal":"NO","marketId":"` + nativeID + `","confidence":null}`},
	} {
		w := b.send("POST", path, c.body, b.byKey())
		want(t, w, 200, "")
		id := field(w, "id")
		has(t, w, "ok=true", "uri=denpa:"+b.mara.GetId()+"/signal/"+id, "Access-Control-Allow-Origin: *")
		body, payload := b.attested(field(w, "messageId"))
		if payload["signalId"] != id || payload["credential"] != "operator_key" || payload["filedAt"] != "2026-09-18T12:00:00.000Z" ||
			!strings.Contains(body, `"type":"`+c.kind+`"`) || !strings.Contains(body, `"appId":null`) || !strings.Contains(body, b.mara.GetId()) {
			t.Errorf("attested %s", body)
		}
		d := b.draft()
		equal(t, d.GetSource(), "api", d, payload)
		equal(t, payload["priceAtPrediction"], any(float64(d.GetPriceBps())), d, payload)
		want(t, b.send("POST", path, c.body, b.byKey()), 409, "already_predicted", "id="+id, "!receiptUrl=")
	}
	if b.calls() != 2 || b.owner(0) != b.mara.GetId() || b.owner(1) != b.mara.GetId() {
		t.Error("a call was filed for another operator")
	}
	equal(t, b.number(`SELECT count(*) FROM hub.attestations_due`), 0)
}

func TestCreationByToken(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public")
	w := b.redeem(a, b.approve(a.authorizeURL("scope", "signal:create")).Query().Get("code"))
	by := bearer(field(w, "access_token"))
	w = b.send("POST", predictPath, `{"marketId":"701122","position":"YES","priceBps":1}`, by)
	want(t, w, 403, "insufficient_scope")
	requireChallenge(t, w, `scope="prediction:create"`)
	w = b.send("POST", createPath, `{"marketId":"701122","position":"YES","priceBps":3150}`, by)
	want(t, w, 200, "")
	body, payload := b.attested(field(w, "messageId"))
	if payload["credential"] != "app_token" || !strings.Contains(body, `"appId":"`+a.ID+`"`) || b.owner(0) != b.mara.GetId() {
		t.Errorf("attested %s", body)
	}
	has(t, b.send("GET", messagesPath+"?appId="+a.ID, ""), `"attested":true`)
}

func TestCreationRefusals(t *testing.T) {
	t.Parallel()
	b := withPages(t)
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
		want(t, b.send("POST", createPath, body, b.byKey()), 400, "invalid_request", "field="+name)
	}
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", createPath, `[]`, b.byKey()), 400, "invalid_body")
	want(t, b.send("POST", createPath, ``, b.byKey()), 415, "unsupported_media_type")
	want(t, b.send("POST", createPath, `{"marketId":"999","position":"YES","priceBps":1}`, b.byKey()), 404, "market_not_found")
	want(t, b.send("POST", createPath, `{"marketId":"999","position":"YES"}`, b.byKey()), 404, "market_not_found")
	// A call needs a price if the market has no recent quote.
	b.ledger.Exec(`UPDATE market_quotes SET yes_bps = NULL WHERE market_id = $1`, marketID)
	w := b.send("POST", createPath, `{"marketId":"701122","position":"YES"}`, b.byKey())
	want(t, w, 400, "invalid_request", "field=priceBps")
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"`+nativeID+`","outcome":"YES"}`, byAdmin()), 200, "")
	want(t, b.send("POST", createPath, `{"marketId":"`+nativeID+`","position":"YES","priceBps":1}`, b.byKey()), 409, "market_closed")
	if n := b.calls(); n != 0 || b.number(`SELECT count(*) FROM hub.messages`) != 0 || b.number(`SELECT count(*) FROM hub.attestations_due`) != 0 {
		t.Errorf("%d calls were filed, or messages or due attestations were stored", n)
	}
}

// TestCreationAtTheMarketsPrice checks that a call without a price gets the current price of its side.
func TestCreationAtTheMarketsPrice(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	want(t, b.send("POST", createPath, `{"marketId":"701122","position":"NO"}`, b.byKey()), 200, "")
	equal(t, b.draft().GetPriceBps(), 6850)
}

func TestCreationIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	const body = `{"marketId":"701122","position":"YES","priceBps":3150}`
	k := with("Idempotency-Key", "try-1")
	first := b.send("POST", createPath, body, b.byKey(), k)
	want(t, first, 200, "")
	has(t, b.send("POST", createPath, body, b.byKey(), k), "="+first.Body.String())
	// The idempotency keys of the routes are separate: the reason for the refusal is the stored call, not the key.
	want(t, b.send("POST", predictPath, body, b.byKey(), k), 409, "already_predicted")
	want(t, b.send("POST", predictPath, strings.Replace(body, marketID, nativeID, 1), b.byKey(), k), 200, "")
	want(t, b.send("POST", "/api/predictions", fullDraft, b.byKey(), k), 409, "already_predicted")
	want(t, b.send("POST", createPath, strings.Replace(body, "3150", "1", 1), b.byKey(), k), 409, "idempotency_key_reused")
	equal(t, b.number(`SELECT count(*) FROM hub.attestations_due`), 0)
}

// TestSweepAttestsWhatWasFiled checks that the background job attests a stored call once if its first attestation failed.
func TestSweepAttestsWhatWasFiled(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	for _, method := range []string{"File", "GetSignal"} { // the answer to the filing is lost, or the read after it fails
		b.ledger.After(func(m string) error {
			if m == method {
				return apitest.ErrDB
			}
			return nil
		})
		if method == "GetSignal" {
			b.ledger.Fail(apitest.ErrDB, method)
		}
		market := map[string]string{"File": marketID, "GetSignal": nativeID}[method]
		want(t, b.send("POST", createPath, `{"marketId":"`+market+`","position":"YES","priceBps":3150}`, b.byKey()), 503, "db_unavailable")
		b.ledger.After(nil)
		b.ledger.Fail(nil)
		want(t, b.send("POST", createPath, `{"marketId":"`+market+`","position":"YES","priceBps":3150}`, b.byKey()), 409, "already_predicted")
		b.requireSwept(b.deps.Creations.Sweep, 0)
		b.clock.Advance(time.Minute)
		b.requireSwept(b.deps.Creations.Sweep, 1)
	}
	// The ledger did not store this call, so there is nothing to attest.
	b.ledger.Fail(errAPI, "File")
	joe := b.ledger.AddOperator("joe_x")
	want(t, b.send("POST", createPath, `{"marketId":"701122","position":"YES","priceBps":3150}`, bearer(b.ledger.AddKey(joe.GetId()))), 503, "signal_service_unavailable")
	b.ledger.Fail(nil)
	b.clock.Advance(time.Minute)
	b.requireSwept(b.deps.Creations.Sweep, 1)
	if n := b.number(`SELECT count(*) FROM hub.messages WHERE attested`); n != 2 || b.number(`SELECT count(*) FROM hub.attestations_due`) != 0 {
		t.Errorf("%d attested messages", n)
	}
}

// TestFinalizeIsAttested checks that the hub attests the resolution of a market, with the id of the hub as the author.
func TestFinalizeIsAttested(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	verdict := func(id string) *answer {
		return b.send("POST", "/api/resolution/finalize", object("marketId", id, "verdict", "NO", "reason", "peak 5.61 m", "proofUrl", "https://records.example/1"), byAdmin())
	}
	want(t, verdict(nativeID), 200, "")
	hub := effect.HubID(issuer)
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
	_, err := b.deps.Creations.Sweep(t.Context())
	must(t, err)
	if n := b.number(`SELECT count(*) FROM hub.messages`); n != 1 || b.number(`SELECT count(*) FROM hub.attestations_due`) != 0 {
		t.Errorf("%d messages, or something is still due", n)
	}
}

// TestAttestedMessagesVerifyWithThePublishedKeys (docs/security.md S47) checks that messages that the hub attested before and
// after a change of its key verify with the keys of /api/protocol/v1/keys alone, in an independent implementation in JavaScript.
func TestAttestedMessagesVerifyWithThePublishedKeys(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	w := b.send("POST", createPath, `{"marketId":"701122","position":"YES","take":"é\u2028\ud83c\udf0a"}`, b.byKey())
	old, _ := b.attested(field(w, "messageId"))
	ring, err := message.ParseHubKeys(`[{"seed":"` + strings.Repeat("5a", 32) + `","notBefore":"2026-09-18T12:30:00Z"},
		{"publicKey":"` + string(b.deps.Messages.Keys.All()[0].Key) + `","notBefore":"2026-01-01T00:00:00Z","notAfter":"2026-09-18T12:30:00Z"}]`)
	must(t, err)
	b.deps.Messages.Keys = ring
	b.clock.Advance(time.Hour)
	has(t, b.send("POST", messagesPath+"/verify", old), "valid=true")
	w = b.send("POST", predictPath, `{"marketId":"`+nativeID+`","position":"YES"}`, b.byKey())
	fresh, _ := b.attested(field(w, "messageId"))
	keys := b.send("GET", "/api/protocol/v1/keys", "")
	if strings.Count(keys.Body.String(), `"kid"`) != 2 || !strings.Contains(keys.Body.String(), `"notAfter":"2026-09-18T12:30:00.000Z"`) || keys.Header().Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("keys: %s", keys.Body)
	}
	if !nodeReady() {
		t.Log("no Node 20 or newer: the check in JavaScript is skipped")
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"keys.json": keys.Body.String(), "messages.json": "[" + old + "," + fresh + "]", "check.mjs": nodeCheck,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "check.mjs"), issuer)
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "2" {
		t.Errorf("%v: %s", err, out)
	}
}

// nodeReady reports whether Node 20 or newer is installed.
func nodeReady() bool {
	out, err := exec.Command("node", "-p", "process.versions.node.split('.')[0]").Output()
	major, bad := strconv.Atoi(strings.TrimSpace(string(out)))
	return err == nil && bad == nil && major >= 20
}

// nodeCheck is a JavaScript program that prints how many messages of messages.json verify with keys.json. For the values in these
// messages, sorted members and JSON.stringify give the canonical form of RFC 8785.
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
		want(t, b.send("GET", "/api/protocol/v1/schemas/"+string(kind), ""), 200, "", "2020-12")
	}
	plain := b.send("GET", "/api/protocol/v1/schemas/signal.create", "").Body.String()
	if own := b.send("GET", "/api/protocol/v1/schemas/signal.create?attested=1", "").Body.String(); own == plain || !strings.Contains(own, "filedAt") {
		t.Errorf("attested: %s", own)
	}
	want(t, b.send("GET", "/api/protocol/v1/schemas/signal", ""), 404, "not_found")
}

// appSigner returns a registered signer of an app with all scopes that effects need. Signers of operator keys cannot sign some of
// these message types.
func (b *fixture) appSigner(name string) *signingKey {
	b.t.Helper()
	a := b.register("public", "scopes", `["signer:create","profile:update","market:create","resolution:create","station:create","station:update","broadcast:create","broadcast:goLive","signal:create","prediction:create"]`)
	w := b.redeem(a, b.approve(a.authorizeURL("scope", "signer:create profile:update market:create resolution:create station:create station:update broadcast:create broadcast:goLive signal:create prediction:create")).Query().Get("code"))
	want(b.t, w, 200, "")
	p := b.newSigningKey(name)
	p.appID = a.ID
	want(b.t, p.register(bearer(field(w, "access_token")), "profile:update", "market:create", "resolution:create", "station:create",
		"station:update", "broadcast:create", "broadcast:goLive", "signal:create", "prediction:create"), 201, "")
	return p
}

func TestEffectsOfMessages(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")

	b.ledger.Exec(`INSERT INTO hub.pictures (operator_id, source, jpeg, tried_at)
		VALUES ($1, 'https://p.example/a.png', 'jpeg', now())`, b.mara.GetId())
	raw := p.write("profile.update", map[string]any{"displayName": "Mara", "bio": "rivers", "avatar": nil, "links": []string{"https://m.example"}})
	want(t, b.submit(raw), 201, "")
	if mara := b.operator("mara_k"); mara.GetDisplayName() != "Mara" || mara.GetBio() != "rivers" || len(mara.GetLinks()) != 1 {
		t.Errorf("the profile: %v", mara)
	}
	equal(t, b.count("hub.pictures"), 0)

	market := map[string]any{"question": "Will the mill race be dry?", "cutoffAt": "2026-10-18T12:00:00.000Z", "lane": "SCIENCE", "initialYesBps": 4000}
	raw = p.write("market.create", market)
	w := b.submit(raw)
	want(t, w, 201, "")
	_, id, _ := strings.Cut(w.Body.String(), `"result":{"marketId":"`)
	id, _, _ = strings.Cut(id, `"`)
	if m := b.market(id); m.GetYesBps() != 4000 {
		t.Fatalf("the market: %v %s", m, w.Body)
	}
	want(t, b.submit(raw), 200, "")
	for range 4 {
		want(t, b.submit(p.write("market.create", market)), 201, "")
	}
	want(t, b.submit(p.write("market.create", market)), 429, "rate_limited", "limit=5")

	proposal := map[string]any{"marketId": id, "verdict": "NO", "reason": "it rained"}
	want(t, b.submit(p.write("resolution.create", proposal)), 201, "")
	if !b.market(id).GetProvisional() {
		t.Error("the market is not provisional")
	}
	proposal["marketId"] = nativeID // created by another operator
	want(t, b.submit(p.write("resolution.create", proposal)), 403, "forbidden")
	proposal["marketId"] = "native-00000000zz"
	want(t, b.submit(p.write("resolution.create", proposal)), 404, "market_not_found")
	proposal["marketId"] = marketID // the market of a venue is not valid in this payload
	reason(t, b.submit(p.write("resolution.create", proposal)), 400, "invalid_request", message.ReasonPayload)
	// Only the hub may set the members of an attestation.
	proposal["marketId"], proposal["resolver"], proposal["source"] = id, "admin", "native"
	reason(t, b.submit(p.write("resolution.create", proposal)), 400, "invalid_request", message.ReasonPayload)
}

// TestEffectsOfBroadcastMessages checks that messages announce and start a broadcast, each only once. The start binds the stream
// of the broadcast to the market.
func TestEffectsOfBroadcastMessages(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	raw := p.write("broadcast.create", map[string]any{"title": "Night desk", "marketId": marketID, "lane": "SCIENCE", "scheduledFor": "2026-09-18T20:00:00.000Z"})
	w := b.submit(raw)
	want(t, w, 201, "")
	id := broadcastOf(t, w)
	if again := b.submit(raw); again.Code != 200 || broadcastOf(t, again) != id || b.number(`SELECT count(*) FROM hub.broadcasts`) != 1 {
		t.Errorf("the repeated message: %d %s", again.Code, again.Body)
	}
	bare := p.write("broadcast.create", map[string]any{"title": "No market"})
	w = b.submit(bare)
	want(t, w, 201, "")
	without := broadcastOf(t, w)

	live := p.write("broadcast.goLive", map[string]any{"broadcastId": id, "url": "https://video.example/a.m3u8", "label": "night"})
	want(t, b.submit(live), 201, "", `"result":{"showId":"`)
	want(t, b.submit(live), 200, "")
	equal(t, b.number(`SELECT count(*) FROM hub.live_sessions WHERE handle = 'mara_k' AND hls_url = 'https://video.example/a.m3u8'`), 1)
	equal(t, b.number(`SELECT count(*) FROM hub.streams WHERE market_id = '701122' AND handle = 'mara_k' AND label = 'night'`), 1)
	equal(t, b.number(`SELECT count(*) FROM hub.broadcasts WHERE state = 'live'`), 1)
	// Without a market, the stream replaces the stream of the open session, and no new session starts.
	want(t, b.submit(p.write("broadcast.goLive", map[string]any{"broadcastId": without, "url": "https://video.example/b.m3u8"})), 201, "")
	equal(t, b.number(`SELECT count(*) FROM hub.live_sessions WHERE hls_url = 'https://video.example/b.m3u8'`), 1)
	equal(t, b.number(`SELECT count(*) FROM hub.live_sessions`), 1)
	want(t, b.send("GET", "/api/protocol/v1/passports/mara_k", ""), 200, "", `"broadcasts":1`)
	if b.ledger.Count("GetSnapshot")+b.ledger.Count("GetMarket")+b.ledger.Count("ListMarkets") == 0 {
		t.Error("the hub requested no market from the ledger")
	}
}

// TestGoLiveByKeyIsAttested checks that the hub attests the start of a live session once if an operator key sent the heartbeat.
// It does not attest a heartbeat that a browser session sent.
func TestGoLiveByKeyIsAttested(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	attested := func() int {
		return b.number(`SELECT count(*) FROM hub.messages WHERE attested AND type = 'broadcast.goLive'`)
	}
	want(t, b.send("POST", beatURL, `{}`, b.byKey()), 200, "")
	equal(t, attested(), 0)
	stream := stream.Stream{MarketID: marketID, Handle: "mara_k", URL: playURL, UpdatedAt: b.clock.Now()}
	must(t, b.store.Bind(t.Context(), stream))
	for range 2 {
		want(t, b.send("POST", beatURL, `{"marketId":"701122"}`, b.byKey()), 200, "")
	}
	equal(t, attested(), 1)
	w := b.send("GET", "/api/protocol/v1/messages?type=broadcast.goLive", "")
	want(t, w, 200, "", `"url":"`+playURL+`"`, `"marketId":"701122"`, `"attested":true`)
	want(t, b.send("POST", beatURL, `{"state":"offline"}`, b.byKey()), 200, "")
	b.clock.Advance(time.Minute)
	want(t, b.send("POST", beatURL, `{}`, b.bySession()), 200, "")
	if n, due := attested(), b.number(`SELECT count(*) FROM hub.attestations_due`); n != 1 || due != 0 {
		t.Errorf("%d are attested and %d are due", n, due)
	}
}

// TestInvalidBroadcastMessages checks that messages with invalid, forbidden or unknown broadcasts are rejected. Neither a live
// session nor a message is stored.
func TestInvalidBroadcastMessages(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	w := b.submit(p.write("broadcast.create", map[string]any{"title": "Night desk"}))
	want(t, w, 201, "")
	id := broadcastOf(t, w)
	go1 := func(members ...any) string {
		payload := map[string]any{"broadcastId": id, "url": "https://video.example/a.m3u8"}
		for i := 0; i < len(members); i += 2 {
			payload[members[i].(string)] = members[i+1]
		}
		return p.write("broadcast.goLive", payload)
	}
	reason(t, b.submit(p.write("broadcast.create", map[string]any{})), 400, "invalid_request", message.ReasonPayload)
	want(t, b.submit(p.write("broadcast.create", map[string]any{"title": "x", "marketId": "999"})), 404, "market_not_found")
	reason(t, b.submit(go1("broadcastId", "x")), 400, "invalid_request", message.ReasonPayload)
	reason(t, b.submit(go1("url", "https://elsewhere.example/a.m3u8")), 400, "invalid_request", message.ReasonPayload)
	want(t, b.submit(go1("broadcastId", "0199f0a4-0000-7000-8000-000000000001")), 404, "not_found")
	want(t, b.submit(go1("marketId", "999")), 404, "market_not_found")
	b.ledger.Exec(`UPDATE hub.broadcasts SET owner = gen_random_uuid()`)
	want(t, b.submit(go1()), 403, "forbidden")
	b.ledger.Exec(`UPDATE hub.broadcasts SET owner = $1`, b.mara.GetId())
	want(t, b.send("POST", "/api/admin/streamers", `{"handle":"mara_k","status":"suspended"}`, byAdmin()), 200, "")
	want(t, b.submit(go1()), 403, "not_approved")
	equal(t, b.number(`SELECT count(*) FROM hub.live_sessions`), 0)
	equal(t, b.number(`SELECT count(*) FROM hub.messages`), 1)
}

// broadcastOf returns the id of the broadcast in the result of a message.
func broadcastOf(t *testing.T, w *answer) string {
	t.Helper()
	_, rest, found := strings.Cut(w.Body.String(), `"result":{"broadcastId":"`)
	if id, _, _ := strings.Cut(rest, `"`); found && len(id) == 36 {
		return id
	}
	t.Fatalf("no broadcast: %s", w.Body)
	return ""
}

// TestEffectsOfStationMessages checks that messages register and change a station, and that a repeated message has no second
// effect.
func TestEffectsOfStationMessages(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	raw := p.write("station.create", map[string]any{"stationId": "tide", "name": "Tide", "url": "https://t.example", "lanes": []string{"SCIENCE"}})
	w := b.submit(raw)
	want(t, w, 201, "", `"result":{"stationId":"tide"}`)
	equal(t, b.stationName("tide"), "Tide")
	want(t, b.submit(raw), 200, "")
	want(t, b.submit(p.write("station.create", map[string]any{"stationId": "tide", "name": "Ebb", "url": "https://e.example"})), 409, "station_exists")
	want(t, b.submit(p.write("station.update", map[string]any{"stationId": "tide", "name": "Ebb"})), 201, "")
	want(t, b.submit(p.write("station.update", map[string]any{"stationId": "unknown", "name": "Ebb"})), 404, "not_found")
	b.ledger.Exec(`UPDATE stations SET user_id = $1`, b.ledger.AddOperator("ebb").GetId())
	want(t, b.submit(p.write("station.update", map[string]any{"stationId": "tide", "name": "Mine"})), 403, "forbidden")
	reason(t, b.submit(p.write("station.create", map[string]any{"stationId": "T"})), 400, "invalid_request", message.ReasonPayload)
	reason(t, b.submit(p.write("station.update", map[string]any{"stationId": "tide", "status": "gone"})), 400, "invalid_request", message.ReasonPayload)
	equal(t, b.stationName("tide"), "Ebb")
	equal(t, b.number(`SELECT count(*) FROM hub.messages`), 2)
}

func TestBotsCannotCreateMarkets(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	want(t, b.send("POST", "/api/admin/operators", `{"handle":"mara_k","operatorType":"ai_agent"}`, byAdmin()), 200, "")
	want(t, b.submit(p.write("market.create", map[string]any{"question": "Will the mill race be dry?", "cutoffAt": "2026-10-18T12:00:00.000Z", "lane": "SCIENCE"})), 403, "forbidden")
	equal(t, b.number(`SELECT count(*) FROM hub.messages`), 0)
}
