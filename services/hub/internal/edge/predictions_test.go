package edge_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

const fullDraft = `{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"marketTitle":"Ostrava gauge",
	"channelId":"night","confidence":80,"crowdYesAtSignal":3150,"timeToResolution":6346800,"source":"farcaster",
	"mediaAssetId":"asset-1","textTake":"rivers do not read polls","reach":1200,"clobTokenId":"7132","crowdLeanBps":2900,
	"handle":"somebody_else","score":99,"status":"won","createdAt":"2020-01-01T00:00:00Z"}`

func TestFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/predictions", fullDraft, b.byKey())
	golden(t, "predictions/filed", w)
	d := b.ledger.LastDraft
	if d.GetId() != field(w, "id") || d.GetMarketTitle() != "Ostrava gauge" || d.GetChannelId() != "night" ||
		d.GetConfidence() != 80 || d.GetCrowdYesBps() != 3150 || d.GetTimeToResolution() != 6346800 ||
		d.GetSource() != "farcaster" || d.GetMediaAssetId() != "asset-1" || d.GetTextTake() != "rivers do not read polls" ||
		d.GetReach() != 1200 || d.GetClobTokenId() != "7132" || d.GetCrowdLeanBps() != 2900 || d.GetPriceBps() != 6850 ||
		d.GetDirection() != "NO" {
		t.Errorf("the draft that arrived: %v", d)
	}
	if got := b.ledger.Signals[0].Signal; got.GetHandle() != "mara_k" || got.GetStatus() != "pending" {
		t.Errorf("the caller named somebody else and got through: %v", got)
	}
	if n := b.ledger.Count("File"); n != 1 {
		t.Errorf("%d hops for a write", n)
	}
}

func TestFileBySession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.bySession())
	if got := b.ledger.Signals[0]; got.Owner != b.mara.GetId() || got.Signal.GetId() != id {
		t.Errorf("filed for %s", got.Owner)
	}
}

func TestFileOptionalMembersAreAbsent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"YES","priceAtPrediction":0,"marketTitle":null,
		"channelId":null,"confidence":null,"crowdYesAtSignal":null,"timeToResolution":null,"source":"fax","mediaAssetId":null,
		"textTake":"","reach":null,"clobTokenId":null,"crowdLeanBps":null}`, b.byKey())
	want(t, w, 200, "")
	d := b.ledger.LastDraft
	if d.MarketTitle != nil || d.ChannelId != nil || d.Confidence != nil || d.CrowdYesBps != nil || d.TimeToResolution != nil ||
		d.MediaAssetId != nil || d.TextTake != nil || d.Reach != nil || d.ClobTokenId != nil || d.CrowdLeanBps != nil {
		t.Errorf("null came through as something: %v", d)
	}
	if d.GetSource() != "web" {
		t.Errorf("unknown source is %q", d.GetSource())
	}
}

// TestFileSpelling: an integer is what it is worth, however it is written.
func TestFileSpelling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want(t, b.send("POST", "/api/predictions", `{"marketId":"701122","direction":"NO","priceAtPrediction":6.850e3,"confidence":80.0}`, b.byKey()), 200, "")
	if d := b.ledger.LastDraft; d.GetPriceBps() != 6850 || d.GetConfidence() != 80 {
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
		// The first mistake in the order of the table is the one that is named.
		draft(`"crowdLeanBps":-1,"confidence":0`):                       "missing_price_at_prediction",
		draft(`"crowdLeanBps":-1,"confidence":0,"priceAtPrediction":1`): "invalid_confidence",
	} {
		b.clock.Advance(2e9)
		w := b.send("POST", "/api/predictions", body, b.byKey())
		if got := field(w, "error"); got != code {
			t.Errorf("%.80s: %s, want %s", body, got, code)
		}
	}
	if n := b.ledger.Count("File"); n != 0 {
		t.Errorf("%d bad drafts reached the ledger", n)
	}
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
	if field(w, "id") != first {
		t.Errorf("409 names %s, not %s", field(w, "id"), first)
	}
	golden(t, "predictions/market_not_found", b.send("POST", "/api/predictions", strings.ReplaceAll(fullDraft, marketID, "1"), b.byKey()))
	want(t, b.send("POST", "/api/admin/resolve-signals", `{"marketId":"native-0000000001","outcome":"YES"}`, byAdmin()), 200, "")
	golden(t, "predictions/market_closed", b.send("POST", "/api/predictions", strings.ReplaceAll(fullDraft, marketID, nativeID), b.byKey()))
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := with("Idempotency-Key", "try-1")
	w := b.send("POST", "/api/predictions", fullDraft, b.byKey(), k)
	again := b.send("POST", "/api/predictions", fullDraft, b.byKey(), k)
	if again.Body.String() != w.Body.String() {
		t.Errorf("again: %s, first: %s", again.Body, w.Body)
	}
	want(t, b.send("POST", "/api/predictions", strings.Replace(fullDraft, "6850", "6851", 1), b.byKey(), k), 409, "idempotency_key_reused")
	for _, bad := range []string{"", strings.Repeat("k", 129), "a b", "ключ"} {
		want(t, b.send("POST", "/api/predictions", fullDraft, b.byKey(), with("Idempotency-Key", bad)), 400, "invalid_idempotency_key")
	}
	want(t, b.send("POST", "/api/predictions", fullDraft, b.byKey(), k, with("Idempotency-Key", "try-2")), 400, "invalid_idempotency_key")
}

// A write whose answer was lost is asked for again with the same id.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := 0
	b.ledger.After = func(_ context.Context, method string) error {
		if (method == "File" || method == "AppendEvent") && lost < 1 {
			lost++
			return fault.New(fault.Unavailable, "signal_service_unavailable", "")
		}
		return nil
	}
	id := b.file("YES", 3150, b.byKey())
	if n := len(b.ledger.Signals); n != 1 || b.ledger.Signals[0].Signal.GetId() != id || b.ledger.Count("File") != 2 {
		t.Errorf("%d signals after %d tries", n, b.ledger.Count("File"))
	}
	lost = 0
	want(t, b.send("POST", "/api/signals/"+id+"/events", `{"type":"reaffirm"}`, b.byKey()), 201, "")
	if n := len(b.ledger.Signals[0].Events); n != 1 || b.ledger.Count("AppendEvent") != 2 {
		t.Errorf("%d events after %d tries", n, b.ledger.Count("AppendEvent"))
	}
}

func TestWritesWhenSomethingIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file("YES", 3150, b.byKey())
	for code, err := range map[string]error{
		"db_unavailable":             memledger.ErrDB,
		"signal_service_unavailable": fault.New(fault.Unavailable, "signal_service_unavailable", ""),
	} {
		b.ledger.Before = func(context.Context, string) error { return err }
		for _, w := range []struct{ path, body string }{
			{"/api/predictions", fullDraft}, {"/api/signals/" + id + "/events", `{"type":"reaffirm"}`},
		} {
			for name, who := range map[string]header{"key": b.byKey(), "session": b.bySession()} {
				got := b.send("POST", w.path, w.body, who)
				want(t, got, http.StatusServiceUnavailable, code)
				if got.Header().Get("Retry-After") == "" || got.Header().Get("Cache-Control") != "no-store" {
					t.Errorf("%s by %s: headers %v", w.path, name, got.Header())
				}
			}
		}
		for _, w := range []struct{ path, body string }{
			{"/api/resolution/finalize", `{"marketId":"` + nativeID + `","verdict":"YES"}`},
			{"/api/resolution/dispute", `{"marketId":"701122"}`},
			{"/api/admin/resolve-signals", ``},
		} {
			want(t, b.send("POST", w.path, w.body, byAdmin()), http.StatusServiceUnavailable, code)
		}
		want(t, b.send("POST", "/api/dev/keys", `{"label":"x"}`, byLogin("mara_k")), http.StatusServiceUnavailable, code)
		want(t, b.send("POST", "/api/auth/privy", ``, byLogin("mara_k")), http.StatusServiceUnavailable, code)
	}
	b.ledger.Before = func(context.Context, string) error { return errors.New("boom") }
	w := b.send("POST", "/api/predictions", fullDraft, b.byKey())
	want(t, w, 500, "internal_error")
	if strings.Contains(w.Body.String(), "boom") {
		t.Error("an internal error shows its text")
	}
}
