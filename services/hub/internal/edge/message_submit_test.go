package edge_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/message"
)

func (b *bench) submit(raw string) *httptest.ResponseRecorder {
	return b.send("POST", messagesPath, raw)
}

func TestMessageBecomesACall(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.signer("one", "signal:create")
	raw := p.write("signal.create", map[string]any{
		"eventId": marketID, "signal": "NO", "priceBps": 6850, "confidence": 70, "take": "rivers do not read polls", "marketTitle": "Gauge",
	})
	w := b.submit(raw)
	want(t, w, 201, "")
	d := b.ledger.LastDraft
	if d.GetSource() != "api" || d.GetDirection() != "NO" || d.GetPriceBps() != 6850 || d.GetConfidence() != 70 ||
		d.GetTextTake() != "rivers do not read polls" || d.GetMarketTitle() != "Gauge" || b.ledger.Signals[0].Owner != b.mara.GetId() {
		t.Errorf("filed as %v", d)
	}
	id := field(w, "id")
	if field(w, "uri") != "denpa:"+b.mara.GetId()+"/signal.create/"+id || !strings.Contains(w.Body.String(), `"result":{"signalId":"`+d.GetId()+`"}`) {
		t.Errorf("answer %s", w.Body)
	}
	again := b.submit(raw)
	if want(t, again, 200, ""); field(again, "replayed") != "true" || field(again, "id") != id || len(b.ledger.Signals) != 1 {
		t.Errorf("again: %s", again.Body)
	}
	one := b.send("GET", messagesPath+"/"+id, "")
	if want(t, one, 200, ""); field(one, "attested") != "false" || field(one, "receivedAt") == "" || !strings.Contains(one.Body.String(), `"signalId"`) {
		t.Errorf("read: %s", one.Body)
	}
	list := b.send("GET", messagesPath+"?denpaId="+b.mara.GetId()+"&type=signal.create&limit=1", "")
	if want(t, list, 200, ""); !strings.Contains(list.Body.String(), id) || !strings.HasSuffix(list.Body.String(), `"next_cursor":null}`) {
		t.Errorf("list: %s", list.Body)
	}
	for path, has := range map[string]string{messagesPath: id, signersPath: p.key()} {
		w := b.send("GET", path+"?denpaId="+strings.ToUpper(b.mara.GetId()), "")
		if want(t, w, 200, ""); !strings.Contains(w.Body.String(), has) {
			t.Errorf("%s of a denpaId in large letters: %s", path, w.Body)
		}
		want(t, b.send("GET", path+"?denpaId=mara_k", ""), 400, "invalid_request")
	}
	want(t, b.send("GET", messagesPath+"/msg_"+strings.Repeat("0", 64), ""), 404, "not_found")
	want(t, b.send("GET", messagesPath+"?type=signal", ""), 400, "invalid_request")
	want(t, b.send("GET", messagesPath+"?since=yesterday", ""), 400, "invalid_request")
	// Its author has called now; another message on the market finds that call.
	w = b.submit(p.write("signal.create", call(marketID)))
	if want(t, w, 409, "already_predicted"); field(w, "id") != d.GetId() || field(w, "receiptUrl") != hubURL+"/receipts/"+d.GetId() {
		t.Errorf("409: %s", w.Body)
	}
}

// S40: what has no one reading is refused before anything else is looked at.
func TestMessagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.signer("one", "signal:create")
	good := p.write("signal.create", call(marketID))
	deep := strings.Repeat(`{"a":`, message.MaxDepth+1) + "1" + strings.Repeat("}", message.MaxDepth+1)
	for name, c := range map[string]struct{ body, reason string }{
		"a duplicate":      {strings.Replace(good, `"version":1`, `"version":1,"version":1`, 1), message.ReasonCanonical},
		"a lone surrogate": {strings.Replace(good, `"YES"`, `"\ud800"`, 1), message.ReasonCanonical},
		"broken UTF-8":     {strings.Replace(good, `"YES"`, "\"\xff\"", 1), message.ReasonCanonical},
		"an endless number": {
			strings.Replace(good, `3150`, `1e400`, 1), message.ReasonCanonical,
		},
		"too deep":          {strings.Replace(good, `"payload":{`, `"payload":{"x":`+deep+`,`, 1), message.ReasonCanonical},
		"no JSON":           {`{"version":1`, message.ReasonCanonical},
		"a list":            {`[]`, message.ReasonSchema},
		"another member":    {strings.Replace(good, `"version":1`, `"version":1,"Type":"signal.create"`, 1), message.ReasonMember},
		"another version":   {strings.Replace(good, `"version":1`, `"version":2`, 1), message.ReasonSchema},
		"an unsafe integer": {p.write("signal.create", map[string]any{"marketId": marketID, "position": "YES", "priceBps": json.Number("9007199254740993")}), message.ReasonPayload},
		"seconds": {
			func() string {
				m := p.unsigned("signal.create", call(marketID))
				m["timestamp"] = b.clock.Now().Unix()
				return p.sign(m, message.MessagePrefix, issuer)
			}(), message.ReasonWindow,
		},
	} {
		w := b.submit(c.body)
		if reason(t, w, 400, "invalid_request", c.reason); t.Failed() {
			t.Fatal(name)
		}
		if name == "seconds" && !strings.Contains(field(w, "message"), "milliseconds") {
			t.Errorf("no help: %s", w.Body)
		}
	}
	want(t, b.submit(good+strings.Repeat(" ", message.MaxSize)), 413, "payload_too_large")
	text := func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }
	want(t, b.send("POST", messagesPath, good, text), 415, "unsupported_media_type")
	if n := len(b.ledger.Signals); n != 0 {
		t.Errorf("%d calls were filed", n)
	}
	want(t, b.submit(good), 201, "")
}

// S41: a signature is for one hub and one purpose. S44: S of the group order and
// above is no signature.
func TestForeignSignatures(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.signer("one", "signal:create")
	m := p.unsigned("signal.create", call(marketID))
	for _, raw := range []string{
		p.sign(m, message.MessagePrefix, "https://other.example/api/protocol/v1"), p.sign(m, "denpa-message-v2", issuer),
		p.sign(m, message.MessagePrefix, strings.TrimSuffix(issuer, "1")),
	} {
		reason(t, b.submit(raw), 401, "unauthenticated", message.ReasonSignature)
	}
	good := p.sign(m, message.MessagePrefix, issuer)
	at := strings.Index(good, `"signature":"`) + len(`"signature":"`)
	sig, err := hex.DecodeString(good[at : at+128])
	if err != nil {
		t.Fatal(err)
	}
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	half := slices.Clone(sig[32:])
	slices.Reverse(half)
	sum := new(big.Int).Add(new(big.Int).SetBytes(half), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	malleated := good[:at+64] + hex.EncodeToString(sum) + good[at+128:]
	reason(t, b.submit(malleated), 401, "unauthenticated", message.ReasonSignature)
	reason(t, b.submit(b.newPen("nobody").write("signal.create", call(marketID))), 401, "unauthenticated", message.ReasonSigner)
	w := b.send("POST", messagesPath+"/verify", good)
	if want(t, w, 200, ""); field(w, "valid") != "true" || len(b.ledger.Signals) != 0 {
		t.Errorf("verify: %s", w.Body)
	}
	verified := field(w, "id")
	if w = b.send("POST", messagesPath+"/verify", malleated); field(w, "valid") != "false" || field(w, "id") != verified {
		t.Errorf("the id depends on the signature: %s", w.Body)
	}
	if w = b.submit(good); field(w, "id") != verified {
		t.Errorf("taken as %s", w.Body)
	}
	// Scope, and the type that the key may not sign.
	want(t, b.submit(p.write("prediction.create", call(nativeID))), 403, "insufficient_scope")
}

// S42: the window with its edges; a replay is answered at any time.
func TestMessageWindow(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.signer("one", "station:create")
	for n, c := range []struct {
		off  time.Duration
		good bool
	}{
		{-message.WindowPast, true},
		{-message.WindowPast - time.Millisecond, false},
		{message.WindowFuture, true},
		{message.WindowFuture + time.Millisecond, false},
	} {
		m := p.unsigned("station.create", map[string]any{"stationId": "station-" + string(rune('a'+n)), "name": "S", "url": "https://s.example"})
		m["timestamp"] = b.clock.Now().Add(c.off).UnixMilli()
		raw := p.sign(m, message.MessagePrefix, issuer)
		w := b.submit(raw)
		if !c.good {
			reason(t, w, 400, "invalid_request", message.ReasonWindow)
			continue
		}
		want(t, w, 201, "")
		b.clock.Advance(time.Hour)
		want(t, b.submit(raw), 200, "")
		b.clock.Advance(-time.Hour)
	}
}

// S43 over real HTTP: one message from many senders at once is one call.
// A storm of copies costs what one message costs: nobody hears of a busy database.
func TestManySendersOfOneMessage(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.signer("one", "signal:create")
	server := httptest.NewServer(b.server)
	t.Cleanup(server.Close)
	raw := p.write("signal.create", call(marketID))
	var made, again atomic.Int32
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			body := struct{ Replayed bool }{}
			resp, err := server.Client().Post(server.URL+messagesPath, "application/json", strings.NewReader(raw))
			if err != nil {
				t.Error(err)
				return
			}
			if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			_ = resp.Body.Close()
			status := resp.StatusCode
			switch {
			case status == http.StatusCreated && !body.Replayed:
				made.Add(1)
			case status == http.StatusOK && body.Replayed:
				again.Add(1)
			default:
				t.Errorf("%d %+v", status, body)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || again.Load() != 199 || len(b.ledger.Signals) != 1 || count(t, db, `SELECT count(*) FROM hub.messages`) != 1 {
		t.Errorf("%d made, %d again, %d signals", made.Load(), again.Load(), len(b.ledger.Signals))
	}
	other := p.unsigned("signal.create", call(nativeID))
	other["nonce"] = "nonce-of-a-test-000001"
	reason(t, b.submit(p.sign(other, message.MessagePrefix, issuer)), 409, "nonce_reused", "nonce_reused")
}

// S45: what an effect refuses is not kept, and its nonce is free.
func TestRefusedEffectFreesTheNonce(t *testing.T) {
	t.Parallel()
	b, db := withMessages(t)
	p := b.signer("one", "signal:create")
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"`+nativeID+`","outcome":"YES"}`, byAdmin()), 200, "")
	m := p.unsigned("signal.create", call(nativeID))
	raw := p.sign(m, message.MessagePrefix, issuer)
	w := b.submit(raw)
	want(t, w, 409, "market_closed")
	if n := count(t, db, `SELECT count(*) FROM hub.messages`); n != 0 {
		t.Errorf("%d messages are kept", n)
	}
	m["payload"] = call(marketID) // the same nonce
	want(t, b.submit(p.sign(m, message.MessagePrefix, issuer)), 201, "")
	want(t, b.submit(raw), 409, "nonce_reused")
	want(t, b.submit(p.write("signal.create", call("999"))), 404, "market_not_found")
}

// An effect whose end is not known stays pending, is shown to nobody, and is settled
// by the sweep with one effect.
func TestSweepSettlesALostAnswer(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.signer("one", "signal:create")
	raw := p.write("signal.create", map[string]any{"marketId": marketID, "position": "YES"}) // at the market's price
	b.ledger.After = func(_ context.Context, method string) error {
		if method == "File" {
			return memledger.ErrDB
		}
		return nil
	}
	want(t, b.submit(raw), 503, "db_unavailable")
	w := b.send("POST", messagesPath+"/verify", raw)
	id := field(w, "id")
	want(t, b.send("GET", messagesPath+"/"+id, ""), 404, "not_found")
	b.ledger.After = nil
	b.ledger.Markets[marketID].YesBps = nil // the price is gone, the call stands
	b.clock.Advance(time.Minute)
	if n, err := b.deps.Messages.Sweep(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d settled, %v", n, err)
	}
	want(t, b.send("GET", messagesPath+"/"+id, ""), 200, "")
	if w = b.submit(raw); w.Code != 200 || field(w, "replayed") != "true" || len(b.ledger.Signals) != 1 {
		t.Errorf("afterwards: %d %s, %d signals", w.Code, w.Body, len(b.ledger.Signals))
	}
	if b.ledger.Signals[0].Signal.GetPriceBps() != 3150 {
		t.Errorf("filed at %d", b.ledger.Signals[0].Signal.GetPriceBps())
	}
}

// S46: every message that was accepted was received before its signer was revoked.
func TestRevokeRacesSubmit(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	b, db := withMessages(t, func(_ *edge.Config, d *edge.Deps) {
		now := d.Messages.Now // time goes on, by a microsecond each time somebody looks
		d.Messages.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now()
		}
	})
	accepted := 0
	for round := range 12 {
		b.clock.Advance(time.Minute)
		p := b.signer("racer "+string(rune('a'+round)), "broadcast:create")
		raws := make([]string, 6)
		for i := range raws {
			raws[i] = p.write("broadcast.create", map[string]any{"title": "abc"})
		}
		var wg sync.WaitGroup
		var taken atomic.Int32
		wg.Go(func() {
			for _, raw := range raws {
				b.clock.Advance(time.Microsecond)
				switch w := b.submit(raw); {
				case w.Code == 201:
					taken.Add(1)
				case w.Code != 401 || field(w, "reason") != message.ReasonRevoked:
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
		wg.Go(func() {
			b.clock.Advance(time.Microsecond)
			want(t, b.send("DELETE", signersPath+"/"+p.key(), "", b.byKey()), 200, "")
		})
		wg.Wait()
		accepted += int(taken.Load())
		reason(t, b.submit(p.write("broadcast.create", map[string]any{"title": "abc"})), 401, "unauthenticated", message.ReasonRevoked)
	}
	if n := count(t, db, `SELECT count(*) FROM hub.messages m JOIN hub.signers s USING (public_key) WHERE m.received_at >= s.revoked_at`); n != 0 {
		t.Errorf("%d of %d messages were received after the revocation", n, accepted)
	}
}

// Thirty messages of a key in any minute; the same one again is none of them.
func TestMessageLimit(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p, q := b.signer("one", "broadcast:create"), b.signer("two", "broadcast:create")
	desk := map[string]any{"title": "abc"}
	first := p.write("broadcast.create", desk)
	want(t, b.submit(first), 201, "")
	for range edge.MessageLimit - 1 {
		want(t, b.submit(p.write("broadcast.create", desk)), 201, "")
	}
	over := p.write("broadcast.create", desk)
	w := b.submit(over)
	if want(t, w, 429, "rate_limited"); field(w, "limit") != "30" || field(w, "retryAfterMs") == "" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	want(t, b.submit(over), 429, "rate_limited") // a refused one is not let in by repeating it
	want(t, b.submit(first), 200, "")
	want(t, b.submit(q.write("broadcast.create", desk)), 201, "")
	// Others cannot use the limit up: what is not signed does not count.
	for range edge.MessageLimit {
		forged := strings.Replace(q.write("broadcast.create", desk), `"abc"`, `"abd"`, 1)
		reason(t, b.submit(forged), 401, "unauthenticated", message.ReasonSignature)
	}
	want(t, b.submit(q.write("broadcast.create", desk)), 201, "")
	b.clock.Advance(time.Minute)
	want(t, b.submit(p.write("broadcast.create", desk)), 201, "")
}

// A ledger that is away leaves everything open.
func TestMessagesWhenTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.signer("one", "signal:create")
	raw := p.write("signal.create", call(marketID))
	b.ledger.Before = func(context.Context, string) error {
		return fault.New(fault.Unavailable, "signal_service_unavailable", "")
	}
	want(t, b.submit(raw), 503, "signal_service_unavailable")
	b.ledger.Before = nil
	want(t, b.submit(raw), 201, "")
	if len(b.ledger.Signals) != 1 {
		t.Errorf("%d signals", len(b.ledger.Signals))
	}
}
