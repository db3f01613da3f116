package edge_test

import (
	"strings"
	"testing"
)

func TestAppendEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.byKey())
	path := "/api/signals/" + id + "/events"
	for name, body := range map[string]string{
		"take":       `{"type":"take","id":"01234567-89ab-7def-8123-456789abcdef","actor":"hub","createdAt":"2001-01-01T00:00:00.000Z","payload":{"mediaAssetId":"m1","url":"https://v.example/1?a=b","text":"look","id":"x","actor":"hub","createdAt":"2020-01-01T00:00:00Z"}}`,
		"reaffirm":   `{"type":"reaffirm"}`,
		"confidence": `{"type":"confidence","payload":{"confidence":80,"score":9}}`,
		"note":       `{"type":"note","payload":{"text":"<b>rain</b> & wind"}}`,
		"share":      `{"type":"share","payload":{}}`,
	} {
		w := b.send("POST", path, body, b.byKey())
		want(t, w, 201, "")
		e := b.ledger.Signals[0].Events[len(b.ledger.Signals[0].Events)-1]
		wants := map[string]string{
			"take":       `{"mediaAssetId":"m1","url":"https://v.example/1?a=b","text":"look"}`,
			"reaffirm":   `{}`,
			"confidence": `{"confidence":80}`,
			"note":       `{"text":"<b>rain</b> & wind"}`,
			"share":      `{}`,
		}
		if e.GetType() != name || e.GetPayload() != wants[name] || e.GetActor() != "owner" || e.GetId() == "01234567-89ab-7def-8123-456789abcdef" ||
			!e.GetCreatedAt().AsTime().Equal(b.clock.Now()) {
			t.Errorf("%s: %v", name, e)
		}
	}
	golden(t, "events/appended", b.send("POST", "/api/signals/"+strings.ToUpper(id)+"/events", `{"type":"share","payload":{"channel":"radio"}}`, b.bySession()))
	if w := b.send("GET", "/api/signals/"+id, ""); field(w, "status") != "pending" || field(w, "priceAtPrediction") != "3150" {
		t.Errorf("an event changed the signal: %s", w.Body)
	}
}

// A key stands for one event of one signal.
func TestAppendEventAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/api/signals/" + b.file("YES", 3150, b.byKey()) + "/events"
	k := with("Idempotency-Key", "event-1")
	note := `{"type":"note","payload":{"text":"rain"}}`
	first := b.send("POST", path, note, b.byKey(), k)
	want(t, first, 201, "")
	again := b.send("POST", path, note, b.bySession(), k)
	if again.Code != 201 || again.Body.String() != first.Body.String() || len(b.ledger.Signals[0].Events) != 1 {
		t.Errorf("again: %s, first: %s, %d events", again.Body, first.Body, len(b.ledger.Signals[0].Events))
	}
	want(t, b.send("POST", path, strings.Replace(note, "rain", "wind", 1), b.byKey(), k), 409, "idempotency_key_reused")
	want(t, b.send("POST", path, note, b.byKey(), with("Idempotency-Key", "event-2")), 201, "")
	want(t, b.send("POST", path, note, b.byKey(), with("Idempotency-Key", "a b")), 400, "invalid_idempotency_key")
	if n := len(b.ledger.Signals[0].Events); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestAppendEventRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.byKey())
	path := "/api/signals/" + id + "/events"
	long := strings.Repeat("x", 501)
	for body, code := range map[string]string{
		`{}`:                                    "missing_type",
		`{"type":null}`:                         "missing_type",
		`{"type":7}`:                            "invalid_type",
		`{"type":"resolved"}`:                   "invalid_type",
		`{"type":"Take"}`:                       "invalid_type",
		`{"type":"take"}`:                       "invalid_payload",
		`{"type":"take","payload":[]}`:          "invalid_payload",
		`{"type":"take","payload":"text"}`:      "invalid_payload",
		`{"type":"take","payload":{"other":1}}`: "invalid_payload",
		`{"type":"take","payload":{"text":""}}`: "invalid_payload",
		`{"type":"take","payload":{"text":"` + long + `"}}`:                        "invalid_payload",
		`{"type":"take","payload":{"mediaAssetId":"` + long[:201] + `"}}`:          "invalid_payload",
		`{"type":"take","payload":{"url":"javascript:alert(1)"}}`:                  "invalid_payload",
		`{"type":"take","payload":{"url":"//v.example/1"}}`:                        "invalid_payload",
		`{"type":"take","payload":{"url":"https://a:b@v.example/"}}`:               "invalid_payload",
		`{"type":"take","payload":{"url":"https://v.example/ x"}}`:                 "invalid_payload",
		`{"type":"take","payload":{"url":"https://v.example/` + long[:490] + `"}}`: "invalid_payload",
		`{"type":"reaffirm","payload":{"text":"x"}}`:                               "invalid_payload",
		`{"type":"confidence"}`:                                                    "invalid_payload",
		`{"type":"confidence","payload":{"confidence":0}}`:                         "invalid_payload",
		`{"type":"confidence","payload":{"confidence":101}}`:                       "invalid_payload",
		`{"type":"confidence","payload":{"confidence":50.5}}`:                      "invalid_payload",
		`{"type":"confidence","payload":{"confidence":"80"}}`:                      "invalid_payload",
		`{"type":"note","payload":{}}`:                                             "invalid_payload",
		`{"type":"note","payload":{"text":"` + long + `"}}`:                        "invalid_payload",
		`{"type":"share","payload":{"channel":"` + long[:41] + `"}}`:               "invalid_payload",
		`{"type":"share","payload":{"channel":7}}`:                                 "invalid_payload",
	} {
		b.clock.Advance(2e9)
		want(t, b.send("POST", path, body, b.byKey()), 400, code)
	}
	if n := b.ledger.Count("AppendEvent"); n != 0 {
		t.Errorf("%d bad events reached the ledger", n)
	}
	other := with("Authorization", "Bearer "+b.ledger.AddKey(b.ledger.AddOperator("otto").GetId()))
	want(t, b.send("POST", path, `{"type":"reaffirm"}`, other), 403, "forbidden")
	want(t, b.send("POST", path, `{"type":"reaffirm"}`), 401, "unauthenticated")
	want(t, b.send("POST", "/api/signals/x/events", `{"type":"reaffirm"}`, other), 404, "not_found")
	golden(t, "events/invalid_payload", b.send("POST", path, `{"type":"note","payload":{}}`, other))
	for range 200 {
		b.clock.Advance(2e9)
		b.send("POST", path, `{"type":"reaffirm"}`, b.byKey())
	}
	want(t, b.send("POST", path, `{"type":"reaffirm"}`, b.byKey()), 409, "event_limit_reached")
}
