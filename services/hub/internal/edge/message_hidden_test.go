package edge_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

// Integrity P23: a message whose text is hidden is served without its payload, and with it when
// the text is shown again. Its id, signer, signature and result stay.
func TestHiddenMessages(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.keeper("of the app")
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
		return raw, b.ledger.Signals[len(b.ledger.Signals)-1].Signal.GetId()
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
		// check reads the message on each route.
		check := func(hidden bool) {
			t.Helper()
			one, list := b.send("GET", messagesPath+"/"+message, ""), b.send("GET", messagesPath+"?limit=100", "")
			for route, h := range map[string]string{"one": one.Header().Get("Cache-Control"), "list": list.Header().Get("Cache-Control")} {
				if h != "public, s-maxage=10" {
					t.Errorf("%s: %s: Cache-Control %q", tc.name, route, h)
				}
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
					if compact(t, got.Message[member]) != compact(t, sent[member]) {
						t.Errorf("%s: %s: %s is %s, want %s", tc.name, route, member, got.Message[member], sent[member])
					}
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

// Without the ledger, text that may be hidden is not served; messages without text are.
func TestHiddenMessagesNeedTheLedger(t *testing.T) {
	t.Parallel()
	b, _ := withMessages(t)
	p := b.keeper("of the app")
	bare := p.write("signal.create", call(marketID))
	profile := p.write("profile.update", map[string]any{"bio": "rivers"})
	want(t, b.submit(bare), 201, "")
	want(t, b.submit(profile), 201, "")
	b.ledger.Before = func(_ context.Context, method string) error {
		if method == "Hidden" {
			return memledger.ErrDB
		}
		return nil
	}
	for raw, status := range map[string]int{bare: 200, profile: 503} {
		id := field(b.send("POST", messagesPath+"/verify", raw), "id")
		if w := b.send("GET", messagesPath+"/"+id, ""); w.Code != status {
			t.Errorf("%d, want %d: %s", w.Code, status, w.Body)
		}
	}
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}

// compact returns JSON in one form, to compare values.
func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	decode(t, raw, &v)
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
