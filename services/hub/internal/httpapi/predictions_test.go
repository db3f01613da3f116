package httpapi_test

import (
	"strings"
	"testing"
)

const fullDraft = `{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"marketTitle":"Ostrava gauge",
	"channelId":"night","confidence":80,"crowdYesAtSignal":3150,"timeToResolution":6346800,"source":"farcaster",
	"mediaAssetId":"asset-1","textTake":"rivers do not read polls","reach":1200,"clobTokenId":"7132","crowdLeanBps":2900,
	"handle":"another_user","score":99,"status":"won","createdAt":"2020-01-01T00:00:00Z"}`

func TestFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/predictions", fullDraft, b.byKey())
	golden(t, "predictions/filed", w)
	d := b.draft()
	if d.GetId() != field(w, "id") || d.GetMarketTitle() != "Ostrava gauge" || d.GetChannelId() != "night" ||
		d.GetConfidence() != 80 || d.GetCrowdYesBps() != 3150 || d.GetTimeToResolution() != 6346800 ||
		d.GetSource() != "farcaster" || d.GetMediaAssetId() != "asset-1" || d.GetTextTake() != "rivers do not read polls" ||
		d.GetReach() != 1200 || d.GetClobTokenId() != "7132" || d.GetCrowdLeanBps() != 2900 || d.GetPriceBps() != 6850 ||
		d.GetDirection() != "NO" {
		t.Errorf("the ledger received the draft %v", d)
	}
	if got := b.call(0); got.GetHandle() != "mara_k" || got.GetStatus() != "pending" {
		t.Errorf("the call was filed for another operator: %v", got)
	}
	equal(t, b.ledger.Count("File"), 1)
}

func TestFileBySession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.bySession())
	equal(t, b.owner(0), b.mara.GetId())
	equal(t, b.call(0).GetId(), id)
}

func TestFileOptionalMembersAreAbsent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"YES","priceAtPrediction":0,"marketTitle":null,
		"channelId":null,"confidence":null,"crowdYesAtSignal":null,"timeToResolution":null,"source":"fax","mediaAssetId":null,
		"textTake":"","reach":null,"clobTokenId":null,"crowdLeanBps":null}`, b.byKey())
	want(t, w, 200, "")
	d := b.draft()
	if d.MarketTitle != nil || d.ChannelId != nil || d.Confidence != nil || d.CrowdYesBps != nil || d.TimeToResolution != nil ||
		d.MediaAssetId != nil || d.TextTake != nil || d.Reach != nil || d.ClobTokenId != nil || d.CrowdLeanBps != nil {
		t.Errorf("null members are set in the draft: %v", d)
	}
	equal(t, d.GetSource(), "web")
}

// TestFileSpelling checks that an integer is accepted in any JSON notation, such as 6850.0.
func TestFileSpelling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want(t, b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6.850e3,"confidence":80.0}`, b.byKey()), 200, "")
	if d := b.draft(); d.GetPriceBps() != 6850 || d.GetConfidence() != 80 {
		t.Errorf("filed is %v", d)
	}
	want(t, b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6850.00000000000000000001}`, b.byKey()), 400, "invalid_price_at_prediction")
}

func TestFileValidation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := strings.Repeat("ä", 501)
	for body, code := range map[string]string{
		``:                                "unsupported_media_type",
		`[]`:                              "invalid_body",
		`{"marketId":"1","marketId":"2"}`: "invalid_body",
		`{} {}`:                           "invalid_body",
		`{}`:                              "missing_market_id",
		`{"MARKETID":"701122"}`:           "missing_market_id",
		`{"marketId":""}`:                 "missing_market_id",
		`{"marketId":null}`:               "missing_market_id",
		`{"marketId":701122}`:             "invalid_market_id",
		`{"marketId":"polymarket:1"}`:     "invalid_market_id",
		`{"marketId":"701122"}`:           "missing_direction",
		`{"direction":"MAYBE"}`:           "missing_market_id",
		`{"marketId":"701122","direction":"yes"}`:                                        "invalid_direction",
		`{"marketId":"701122","direction":"YES"}`:                                        "missing_price_at_prediction",
		draft(`"priceAtPrediction":-1`):                                                  "invalid_price_at_prediction",
		draft(`"priceAtPrediction":10001`):                                               "invalid_price_at_prediction",
		draft(`"priceAtPrediction":1.5`):                                                 "invalid_price_at_prediction",
		draft(`"priceAtPrediction":"31"`):                                                "invalid_price_at_prediction",
		draft(`"priceAtPrediction":9223372036854775808`):                                 "invalid_price_at_prediction",
		draft(`"priceAtPrediction":1,"marketTitle":"` + long[:602] + `"`):                "invalid_market_title",
		draft(`"priceAtPrediction":1,"channelId":"` + strings.Repeat("c", 65) + `"`):     "invalid_channel_id",
		draft(`"priceAtPrediction":1,"confidence":0`):                                    "invalid_confidence",
		draft(`"priceAtPrediction":1,"confidence":101`):                                  "invalid_confidence",
		draft(`"priceAtPrediction":1,"crowdYesAtSignal":10001`):                          "invalid_crowd_yes_at_signal",
		draft(`"priceAtPrediction":1,"timeToResolution":-1`):                             "invalid_time_to_resolution",
		draft(`"priceAtPrediction":1,"timeToResolution":315360001`):                      "invalid_time_to_resolution",
		draft(`"priceAtPrediction":1,"source":7`):                                        "invalid_source",
		draft(`"priceAtPrediction":1,"mediaAssetId":"` + strings.Repeat("m", 201) + `"`): "invalid_media_asset_id",
		draft(`"priceAtPrediction":1,"textTake":"` + long + `"`):                         "invalid_text_take",
		draft(`"priceAtPrediction":1,"reach":1000000001`):                                "invalid_reach",
		draft(`"priceAtPrediction":1,"clobTokenId":7`):                                   "invalid_clob_token_id",
		draft(`"priceAtPrediction":1,"crowdLeanBps":-1`):                                 "invalid_crowd_lean_bps",
		// The first invalid member in the order of the OpenAPI document is reported.
		draft(`"crowdLeanBps":-1,"confidence":0`):                       "missing_price_at_prediction",
		draft(`"crowdLeanBps":-1,"confidence":0,"priceAtPrediction":1`): "invalid_confidence",
	} {
		b.clock.Advance(2e9)
		w := b.send("POST", "/api/predictions", body, b.byKey())
		equal(t, field(w, "error"), code, body)
	}
	equal(t, b.ledger.Count("File"), 0)
	golden(t, "predictions/invalid_direction", b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"MAYBE"}`, b.byKey()))
}

func draft(members string) string {
	return `{"marketId":"701122","direction":"YES",` + members + `}`
}

func TestFileRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.file("NO", 6850, b.byKey())
	w := b.send("POST", "/api/predictions", fullDraft, b.byKey())
	golden(t, "predictions/already_predicted", w)
	has(t, w, "id="+first)
	golden(t, "predictions/market_not_found", b.send("POST", "/api/predictions", strings.ReplaceAll(fullDraft, marketID, "1"), b.byKey()))
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"native-0000000001","outcome":"YES"}`, byAdmin()), 200, "")
	golden(t, "predictions/market_closed", b.send("POST", "/api/predictions", strings.ReplaceAll(fullDraft, marketID, nativeID), b.byKey()))
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := with("Idempotency-Key", "try-1")
	w := b.send("POST", "/api/predictions", fullDraft, b.byKey(), k)
	has(t, b.send("POST", "/api/predictions", fullDraft, b.byKey(), k), "="+w.Body.String())
	want(t, b.send("POST", "/api/predictions", strings.Replace(fullDraft, "6850", "6851", 1), b.byKey(), k), 409, "idempotency_key_reused")
	for _, bad := range []string{"", strings.Repeat("k", 129), "a b", "ключ"} {
		want(t, b.send("POST", "/api/predictions", fullDraft, b.byKey(), with("Idempotency-Key", bad)), 400, "invalid_idempotency_key")
	}
	want(t, b.send("POST", "/api/predictions", fullDraft, b.byKey(), k, with("Idempotency-Key", "try-2")), 400, "invalid_idempotency_key")
}

// TestLostAnswer checks that the hub repeats a write whose answer was lost, with the same id, so that it has one effect.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := 0
	b.ledger.After(func(method string) error {
		if (method == "File" || method == "AppendEvent") && lost < 1 {
			lost++
			return errAPI
		}
		return nil
	})
	id := b.file("YES", 3150, b.byKey())
	if n := b.calls(); n != 1 || b.call(0).GetId() != id || b.ledger.Count("File") != 2 {
		t.Errorf("%d signals after %d tries", n, b.ledger.Count("File"))
	}
	lost = 0
	want(t, b.send("POST", "/api/signals/"+id+"/events", `{"type":"reaffirm"}`, b.byKey()), 201, "")
	if n := len(b.events(0)); n != 1 || b.ledger.Count("AppendEvent") != 2 {
		t.Errorf("%d events after %d tries", n, b.ledger.Count("AppendEvent"))
	}
}

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
		want(t, b.send("POST", path, body, b.byKey()), 201, "")
		e := b.events(0)[len(b.events(0))-1]
		wants := map[string]string{
			"take":       `{"url":"https://v.example/1?a=b","text":"look","mediaAssetId":"m1"}`,
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
	has(t, b.send("GET", "/api/signals/"+id, ""), "status=pending", "priceAtPrediction=3150")
}

// TestAppendEventAgain checks that a repeated idempotency key returns the first event of the call, and that another body with the
// key is rejected.
func TestAppendEventAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/api/signals/" + b.file("YES", 3150, b.byKey()) + "/events"
	k := with("Idempotency-Key", "event-1")
	note := `{"type":"note","payload":{"text":"rain"}}`
	first := b.send("POST", path, note, b.byKey(), k)
	want(t, first, 201, "")
	again := b.send("POST", path, note, b.bySession(), k)
	want(t, again, 201, "", "="+first.Body.String())
	equal(t, len(b.events(0)), 1)
	want(t, b.send("POST", path, strings.Replace(note, "rain", "wind", 1), b.byKey(), k), 409, "idempotency_key_reused")
	want(t, b.send("POST", path, note, b.byKey(), with("Idempotency-Key", "event-2")), 201, "")
	want(t, b.send("POST", path, note, b.byKey(), with("Idempotency-Key", "a b")), 400, "invalid_idempotency_key")
	equal(t, len(b.events(0)), 2)
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
	equal(t, b.ledger.Count("AppendEvent"), 0)
	other := with("Authorization", "Bearer "+b.ledger.AddKey(b.ledger.AddOperator("otto").GetId()))
	want(t, b.send("POST", path, `{"type":"reaffirm"}`, other), 403, "forbidden")
	want(t, b.send("POST", "/api/signals/x/events", `{"type":"reaffirm"}`, other), 404, "not_found")
	golden(t, "events/invalid_payload", b.send("POST", path, `{"type":"note","payload":{}}`, other))
	for range 200 {
		b.clock.Advance(2e9)
		b.send("POST", path, `{"type":"reaffirm"}`, b.byKey())
	}
	want(t, b.send("POST", path, `{"type":"reaffirm"}`, b.byKey()), 409, "event_limit_reached")
}
