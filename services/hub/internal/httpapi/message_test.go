package httpapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

func TestSignerLife(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.newSigningKey("one")
	w := p.register(b.byKey(), "signal:create", "prediction:create")
	want(t, w, 201, "")
	for name, value := range map[string]string{
		"publicKey": p.key(), "kind": "ed25519", "denpaId": b.mara.GetId(), "label": "bot", "status": "active", "appId": "", "revokedAt": "",
	} {
		equal(t, field(w, name), value, name)
	}
	want(t, b.send("GET", signersPath+"/"+p.key(), ""), 200, "", "Access-Control-Allow-Origin: *")
	has(t, b.send("GET", signersPath+"?denpaId="+b.mara.GetId(), ""), p.key())
	want(t, p.register(b.byKey(), "signal:create"), 409, "signer_exists")

	joe := b.ledger.AddOperator("joe_x")
	byJoe := bearer(b.ledger.AddKey(joe.GetId()))
	want(t, b.send("DELETE", signersPath+"/"+p.key(), "", byJoe), 404, "not_found")
	for range 2 {
		want(t, b.send("DELETE", signersPath+"/"+p.key(), "", b.byKey()), 200, "")
	}
	has(t, b.send("GET", signersPath+"/"+p.key(), ""), "status=revoked", "!revokedAt=")
	// A revoked key cannot be registered again, even for another user.
	want(t, p.register(b.byKey(), "signal:create"), 409, "signer_revoked")
	p.denpaID = joe.GetId()
	want(t, p.register(byJoe, "signal:create"), 409, "signer_revoked")

	q := b.signer("two", "signal:create")
	want(t, b.send("DELETE", "/api/user/signers/"+q.key(), "", b.bySession()), 200, "")
	want(t, b.send("GET", signersPath+"/"+b.newSigningKey("unregistered").key(), ""), 404, "not_found")
}

// member returns the text of a string member of a JSON object, with its escape sequences.
func member(object, name string) string {
	_, rest, _ := strings.Cut(object, `"`+name+`":"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

func TestSignerNeedsItsScopes(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.newSigningKey("one")
	want(t, b.send("POST", signersPath+"/challenge", object("publicKey", p.key())), 401, "unauthenticated")
	// No permission of a key includes these scopes.
	for _, scope := range []string{"profile:update", "market:create", "resolution:create"} {
		want(t, p.register(b.byKey(), scope), 403, "insufficient_scope")
	}
	for _, scope := range []string{"signer:create", "profile:read", "offline_access", "fly:high", ""} {
		want(t, p.register(b.byKey(), scope), 400, "invalid_request")
	}
	want(t, p.register(b.byKey()), 400, "invalid_request")
	reads := bearer(b.keyWith("read"))
	w := b.send("POST", signersPath+"/challenge", object("publicKey", p.key()), reads)
	want(t, w, 403, "insufficient_scope")
	requireChallenge(t, w, `error="insufficient_scope"`, `scope="signer:create"`)
}

// keyWith creates a key of mara_k that has these permissions only.
func (b *fixture) keyWith(permissions ...string) string {
	b.t.Helper()
	w := b.send("POST", "/api/dev/keys", object("label", "narrow", "permissions", permissions), byLogin("mara_k"))
	want(b.t, w, 201, "")
	return field(w, "key")
}

// TestSignersOfAGrant (docs/security.md S38) checks that a signer cannot get a scope that its grant lacks, and that revoking the
// grant revokes the signer.
func TestSignersOfAGrant(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	a := b.register("public", "scopes", `["profile:read","signal:create","signer:create","prediction:create"]`)
	w := b.redeem(a, b.approve(a.authorizeURL("scope", "signal:create signer:create")).Query().Get("code"))
	want(t, w, 200, "")
	by, grantID := bearer(field(w, "access_token")), field(w, "grantId")
	p := b.newSigningKey("of the app")
	p.appID = a.ID
	want(t, p.register(by, "prediction:create"), 403, "insufficient_scope")
	w = p.register(by, "signal:create")
	if want(t, w, 201, ""); field(w, "appId") != a.ID || field(w, "grantId") != grantID || field(w, "expiresAt") == "" {
		t.Fatalf("the signer: %s", w.Body)
	}
	mine := b.signer("of the operator", "signal:create")
	want(t, b.send("DELETE", signersPath+"/"+mine.key(), "", by), 404, "not_found")
	want(t, b.send("POST", messagesPath, p.write("signal.create", call(marketID))), 201, "")
	// A bearer that is sent with a signed message must belong to the same operator and app.
	other := p.write("signal.create", call(nativeID))
	want(t, b.send("POST", messagesPath, other, b.byKey()), 403, "forbidden")
	want(t, b.send("DELETE", "/api/protocol/v1/grants/"+grantID, "", by), 200, "")
	has(t, b.send("GET", signersPath+"/"+p.key(), ""), "status=revoked")
	reason(t, b.send("POST", messagesPath, p.write("signal.create", call(nativeID))), 401, "unauthenticated", message.ReasonRevoked)
	want(t, b.send("POST", signersPath+"/challenge", object("publicKey", b.newSigningKey("late").key()), by), 401, "unauthenticated")
}

func (b *fixture) submit(raw string) *answer {
	return b.send("POST", messagesPath, raw)
}

func TestMessageBecomesACall(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.signer("one", "signal:create")
	raw := p.write("signal.create", map[string]any{
		"eventId": marketID, "signal": "NO", "priceBps": 6850, "confidence": 70, "take": "rivers do not read polls", "marketTitle": "Gauge",
	})
	w := b.submit(raw)
	want(t, w, 201, "")
	d := b.draft()
	if d.GetSource() != "api" || d.GetDirection() != "NO" || d.GetPriceBps() != 6850 || d.GetConfidence() != 70 ||
		d.GetTextTake() != "rivers do not read polls" || d.GetMarketTitle() != "Gauge" || b.owner(0) != b.mara.GetId() {
		t.Errorf("filed as %v", d)
	}
	id := field(w, "id")
	has(t, w, "uri=denpa:"+b.mara.GetId()+"/signal.create/"+id, `"result":{"signalId":"`+d.GetId()+`"}`)
	again := b.submit(raw)
	want(t, again, 200, "", "replayed=true", "id="+id)
	equal(t, b.calls(), 1)
	want(t, b.send("GET", messagesPath+"/"+id, ""), 200, "", "attested=false", "!receivedAt=", `"signalId"`)
	list := b.send("GET", messagesPath+"?denpaId="+b.mara.GetId()+"&type=signal.create&limit=1", "")
	if want(t, list, 200, ""); !strings.Contains(list.Body.String(), id) || !strings.HasSuffix(list.Body.String(), `"next_cursor":null}`) {
		t.Errorf("list: %s", list.Body)
	}
	for path, has := range map[string]string{messagesPath: id, signersPath: p.key()} {
		want(t, b.send("GET", path+"?denpaId="+strings.ToUpper(b.mara.GetId()), ""), 200, "", has)
		want(t, b.send("GET", path+"?denpaId=mara_k", ""), 400, "invalid_request")
	}
	want(t, b.send("GET", messagesPath+"/msg_"+strings.Repeat("0", 64), ""), 404, "not_found")
	want(t, b.send("GET", messagesPath+"?type=signal", ""), 400, "invalid_request")
	want(t, b.send("GET", messagesPath+"?since=yesterday", ""), 400, "invalid_request")
	// The operator now has a call on the market, so another message for the market is rejected. The error names the existing
	// call.
	w = b.submit(p.write("signal.create", call(marketID)))
	want(t, w, 409, "already_predicted", "id="+d.GetId(), "receiptUrl="+hubURL+"/receipts/"+d.GetId())
}

// TestMessagesThatCannotBeRead checks that a malformed message is rejected with the reason, and that no call is filed.
func TestMessagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.signer("one", "signal:create")
	good := p.write("signal.create", call(marketID))
	reason(t, b.submit(`{"version":1`), 400, "invalid_request", message.ReasonCanonical)
	m := p.unsigned("signal.create", call(marketID))
	m["timestamp"] = b.clock.Now().Unix()
	w := b.submit(p.sign(m, message.MessagePrefix, issuer))
	if reason(t, w, 400, "invalid_request", message.ReasonWindow); !strings.Contains(field(w, "message"), "milliseconds") {
		t.Errorf("a timestamp in seconds: %s", w.Body)
	}
	want(t, b.submit(good+strings.Repeat(" ", message.MaxSize)), 413, "payload_too_large")
	want(t, b.send("POST", messagesPath, good, contentType("text/plain")), 415, "unsupported_media_type")
	equal(t, b.calls(), 0)
}

// TestSweepSettlesALostAnswer checks a message for which the answer of the ledger is lost. It stays pending and unpublished until
// the background job settles it with one call.
func TestSweepSettlesALostAnswer(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.signer("one", "signal:create")
	raw := p.write("signal.create", map[string]any{"marketId": marketID, "position": "YES"}) // files at the market's price
	b.ledger.After(func(method string) error {
		if method == "File" {
			return apitest.ErrDB
		}
		return nil
	})
	want(t, b.submit(raw), 503, "db_unavailable")
	w := b.send("POST", messagesPath+"/verify", raw)
	id := field(w, "id")
	want(t, b.send("GET", messagesPath+"/"+id, ""), 404, "not_found")
	b.ledger.After(nil)
	b.ledger.Exec(`UPDATE market_quotes SET yes_bps = NULL WHERE market_id = $1`, marketID) // the market loses its price, the stored call keeps it
	b.clock.Advance(time.Minute)
	b.requireSwept(b.deps.Messages.Sweep, 1)
	want(t, b.send("GET", messagesPath+"/"+id, ""), 200, "")
	if w = b.submit(raw); w.Code != 200 || field(w, "replayed") != "true" || b.calls() != 1 {
		t.Errorf("afterwards: %d %s, %d signals", w.Code, w.Body, b.calls())
	}
	equal(t, b.call(0).GetPriceBps(), 3150)
}

// TestMessageLimit checks that a signing key may send 30 messages in any minute. Repeated accepted messages and messages with an
// invalid signature do not count.
func TestMessageLimit(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p, q := b.signer("one", "broadcast:create"), b.signer("two", "broadcast:create")
	desk := map[string]any{"title": "abc"}
	first := p.write("broadcast.create", desk)
	want(t, b.submit(first), 201, "")
	for range message.PerMinute - 1 {
		want(t, b.submit(p.write("broadcast.create", desk)), 201, "")
	}
	over := p.write("broadcast.create", desk)
	want(t, b.submit(over), 429, "rate_limited", "limit=30", "!retryAfterMs=", "!Retry-After: ")
	want(t, b.submit(over), 429, "rate_limited") // repeating a refused message does not help
	want(t, b.submit(first), 200, "")
	want(t, b.submit(q.write("broadcast.create", desk)), 201, "")
	// Others cannot use up the limit of a key: a message with an invalid signature does not count.
	for range message.PerMinute {
		forged := strings.Replace(q.write("broadcast.create", desk), `"abc"`, `"abd"`, 1)
		reason(t, b.submit(forged), 401, "unauthenticated", message.ReasonSignature)
	}
	want(t, b.submit(q.write("broadcast.create", desk)), 201, "")
	b.clock.Advance(time.Minute)
	want(t, b.submit(p.write("broadcast.create", desk)), 201, "")
}

// TestMessagesWithoutLedger checks that a message that failed while the ledger was unavailable can be sent again, and then has
// one effect.
func TestMessagesWithoutLedger(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.signer("one", "signal:create")
	raw := p.write("signal.create", call(marketID))
	b.ledger.Fail(errAPI)
	want(t, b.submit(raw), 503, "signal_service_unavailable")
	b.ledger.Fail(nil)
	want(t, b.submit(raw), 201, "")
	equal(t, b.calls(), 1)
}

// TestHiddenMessages (docs/guarantees.md P23) checks that a message whose text is hidden is served without its payload, and with
// it after the text is shown again. Its id, signer, signature and result do not change.
func TestHiddenMessages(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	const secret = "an accusation"
	market := p.write("market.create", map[string]any{"question": "Is this " + secret + "?", "cutoffAt": "2026-10-18T12:00:00.000Z", "lane": "SCIENCE"})
	w := b.submit(market)
	want(t, w, 201, "")
	var made struct{ Result struct{ MarketID string } }
	decode(t, w.Body.Bytes(), &made)
	id := made.Result.MarketID

	filed := func(text map[string]any) (raw, signal string) {
		t.Helper()
		payload := call(marketID)
		for name, v := range text {
			payload[name] = v
		}
		raw = p.write("signal.create", payload)
		want(t, b.submit(raw), 201, "")
		return raw, b.call(b.calls() - 1).GetId()
	}
	call, signal := filed(map[string]any{"take": secret, "marketTitle": secret + " in a title"})
	profile := p.write("profile.update", map[string]any{"bio": secret})
	want(t, b.submit(profile), 201, "")

	for _, tc := range []struct{ name, kind, id, raw string }{
		{"take", "signal", signal, call},
		{"title of the market in a call", "market", marketID, call},
		{"question", "market", id, market},
		{"bio", "profile", "mara_k", profile},
	} {
		moderate := func(action string) {
			t.Helper()
			body := object("kind", tc.kind, "id", tc.id, "action", action, "reason", "defamation")
			want(t, b.send("POST", moderationURL, body, byAdmin()), 200, "")
		}
		message := field(b.send("POST", messagesPath+"/verify", tc.raw), "id")
		var sent map[string]json.RawMessage
		decode(t, []byte(tc.raw), &sent)
		// check reads the message on each route and compares its members with the signed ones.
		check := func(hidden bool) {
			t.Helper()
			one, list := b.send("GET", messagesPath+"/"+message, ""), b.send("GET", messagesPath+"?limit=100", "")
			for route, h := range map[string]string{"one": one.Header().Get("Cache-Control"), "list": list.Header().Get("Cache-Control")} {
				equal(t, h, "public, s-maxage=10", tc.name, route)
			}
			var page struct{ Messages []json.RawMessage }
			decode(t, list.Body.Bytes(), &page)
			answers := map[string]string{"one": one.Body.String(), "resent": b.submit(tc.raw).Body.String()}
			for _, m := range page.Messages {
				if strings.Contains(string(m), message) {
					answers["list"] = string(m)
				}
			}
			if len(answers) != 3 {
				t.Fatalf("%s: the list lacks the message: %s", tc.name, list.Body)
			}
			for route, answer := range answers {
				var got struct {
					ID      string
					Hidden  *bool
					Message map[string]json.RawMessage
				}
				decode(t, []byte(answer), &got)
				if got.ID != message || got.Hidden == nil || *got.Hidden != hidden || strings.Contains(answer, secret) == hidden {
					t.Errorf("%s: %s: hidden must be %t: %s", tc.name, route, hidden, answer)
				}
				if payload := string(got.Message["payload"]); hidden != (payload == "null") {
					t.Errorf("%s: %s: payload %s", tc.name, route, payload)
				}
				for _, member := range []string{"appId", "denpaId", "nonce", "signature", "signer", "timestamp", "type", "version"} {
					equal(t, compact(t, got.Message[member]), compact(t, sent[member]), tc.name, route, member)
				}
			}
		}
		check(false)
		moderate("hide")
		check(true)
		moderate("show")
		check(false)
	}
}

// TestHiddenMessagesNeedTheLedger checks that without the ledger, the hub does not serve a message with text, because the text
// may be hidden. It still serves messages without text.
func TestHiddenMessagesNeedTheLedger(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.appSigner("of the app")
	bare := p.write("signal.create", call(marketID))
	profile := p.write("profile.update", map[string]any{"bio": "rivers"})
	want(t, b.submit(bare), 201, "")
	want(t, b.submit(profile), 201, "")
	b.ledger.Fail(apitest.ErrDB, "Hidden")
	for raw, status := range map[string]int{bare: 200, profile: 503} {
		id := field(b.send("POST", messagesPath+"/verify", raw), "id")
		want(t, b.send("GET", messagesPath+"/"+id, ""), status, "")
	}
}

// decode reads JSON and ends the test if it is invalid.
func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}

// compact returns JSON in a normal form: equal values have equal texts.
func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	decode(t, raw, &v)
	out, err := json.Marshal(v)
	must(t, err)
	return string(out)
}

// minted creates a key of mara_k and returns it with its id.
func (b *fixture) minted() (key, id string) {
	b.t.Helper()
	w := b.send("POST", "/api/dev/keys", `{"label":"bot"}`, byLogin("mara_k"))
	want(b.t, w, 201, "")
	return field(w, "key"), field(w, "id")
}

func TestRevokingAKeyRevokesItsSignersAndWebhooks(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	key, id := b.minted()
	stolen, other := b.newSigningKey("stolen"), b.signer("of another key", "signal:create")
	want(t, stolen.register(bearer(key), "signal:create"), 201, "")
	b.ledger.Exec(`INSERT INTO webhooks (id, user_id, url, channels, types, created_at, secret, taken, key_id)
		VALUES (gen_random_uuid(), $1, 'https://hook.example', '{feed}', '{}', now(), '', 0, $2)`, b.mara.GetId(), id)
	for range 2 { // the second request must have the same answer
		w := b.send("DELETE", "/api/dev/keys?id="+id, "", byLogin("mara_k"))
		want(t, w, 200, "")
		var answer struct {
			Active  bool
			Revoked struct{ Signers, Webhooks, Grants []string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Active ||
			!slices.Equal(answer.Revoked.Signers, []string{stolen.key()}) || len(answer.Revoked.Webhooks) != 1 || answer.Revoked.Grants == nil {
			t.Errorf("%s %v", w.Body, err)
		}
	}
	reason(t, b.submit(stolen.write("signal.create", call(marketID))), 401, "unauthenticated", message.ReasonRevoked)
	has(t, b.send("GET", signersPath+"/"+stolen.key(), ""), "status=revoked")
	want(t, b.submit(other.write("signal.create", call(marketID))), 201, "")
}

// TestSignerOfARevokedKeyIsRefusedEvenIfTheHubMissedIt checks the case that the ledger revoked a key, but the hub stopped before
// it revoked the signers. The next message is rejected, and all signers of the key are revoked.
func TestSignerOfARevokedKeyIsRefusedEvenIfTheHubMissedIt(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	key, id := b.minted()
	p, q := b.newSigningKey("one"), b.newSigningKey("two")
	want(t, p.register(bearer(key), "signal:create"), 201, "")
	want(t, q.register(bearer(key), "signal:create"), 201, "")
	raw := p.write("signal.create", call(marketID))
	want(t, b.send("POST", messagesPath+"/verify", raw), 200, "", "valid=true")
	revoke := &operatorv1.RevokeKeyRequest{OperatorId: b.mara.GetId(), KeyId: id}
	if _, err := b.deps.Ledger.OperatorWrites.RevokeKey(t.Context(), revoke); err != nil {
		t.Fatal(err)
	}
	// A verification has the same answer, and stores nothing: it revokes no signer.
	want(t, b.send("POST", messagesPath+"/verify", raw), 200, "", "valid=false", `"signer_revoked"`)
	has(t, b.send("GET", signersPath+"/"+p.key(), ""), "status=active")
	reason(t, b.submit(p.write("signal.create", call(marketID))), 401, "unauthenticated", message.ReasonRevoked)
	for _, one := range []*signingKey{p, q} { // the refusal revoked them all
		has(t, b.send("GET", signersPath+"/"+one.key(), ""), "status=revoked")
	}
}

func TestSweepRevokesSignersOfRevokedKeys(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	key, id := b.minted()
	p, other := b.newSigningKey("one"), b.signer("of another key", "signal:create")
	want(t, p.register(bearer(key), "signal:create"), 201, "")
	revoke := &operatorv1.RevokeKeyRequest{OperatorId: b.mara.GetId(), KeyId: id}
	if _, err := b.deps.Ledger.OperatorWrites.RevokeKey(t.Context(), revoke); err != nil {
		t.Fatal(err)
	}
	b.requireSwept(b.deps.Messages.SweepKeys, 1)
	b.requireSwept(b.deps.Messages.SweepKeys, 0)
	for one, status := range map[*signingKey]string{p: "revoked", other: "active"} {
		has(t, b.send("GET", signersPath+"/"+one.key(), ""), "status="+status)
	}
}

func TestSignerOfAKeyNeedsAnExpiryWithinNinetyDays(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	p := b.newSigningKey("one")
	good := p.registration(p.challenge(b.byKey()), "signal:create")
	expiry := member(good, "expiresAt")
	for name, body := range map[string]string{
		"none":       strings.Replace(good, `"expiresAt":"`+expiry+`",`, "", 1),
		"ninety-one": strings.Replace(good, expiry, protocol.Stamp(b.clock.Now().Add(91*24*time.Hour)), 1),
		"no time":    strings.Replace(good, expiry, "soon", 1),
	} {
		want(t, b.send("POST", signersPath, body, b.byKey()).as(name), 400, "invalid_request", "field=expiresAt")
	}
	want(t, b.send("POST", signersPath, good, b.byKey()), 201, "")
}
