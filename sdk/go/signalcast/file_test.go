package signalcast

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

const (
	filedID = "0199f0a4-2222-7000-8000-000000000002"
	numbers = `"priceAtPrediction":6850,"scoreBasisBps":6900,"priceVerified":true,"rated":true,"marketYesBps":3150,"yesPriceBps":3200,"noPriceBps":6900,"warnings":["price_converted"]`
)

var noAt6850 = client.SignalDraft{MarketID: "7", Direction: client.SideNO, PriceAtPrediction: 6850}

// sent reads the members of a request.
func sent(t *testing.T, r *http.Request) map[string]any {
	raw, err := io.ReadAll(r.Body)
	var v map[string]any
	if err != nil || json.Unmarshal(raw, &v) != nil {
		t.Errorf("%v: %s", err, raw)
	}
	return v
}

// Integrity P13, P14: a call is sent with a bound of 200 bps, and its numbers are answered.
func TestFileSendsABoundAndAnswersTheStoredNumbers(t *testing.T) {
	t.Parallel()
	var bounds []any
	c, _ := served(t, Options{Token: Key("dk_x")}, func(_ int, w http.ResponseWriter, r *http.Request) {
		bounds = append(bounds, sent(t, r)["maxSlippageBps"])
		say(w, 200, `{"ok":true,"id":"`+filedID+`",`+numbers+`}`)
	})
	filed, err := c.Signals.File(t.Context(), noAt6850)
	if err != nil || filed.ID != uuid.MustParse(filedID) || filed.PriceAtPrediction != 6850 || filed.ScoreBasisBps != 6900 || !filed.PriceVerified || !filed.Rated ||
		*filed.MarketYesBps != 3150 || *filed.YesPriceBps != 3200 || *filed.NoPriceBps != 6900 || len(filed.Warnings) != 1 {
		t.Errorf("%+v %v", filed, err)
	}
	none, draft := 0, noAt6850
	draft.MaxSlippageBps = &none
	_, _ = c.Signals.File(t.Context(), draft)
	_, _ = c.Signals.Create(t.Context(), client.CreationDraft{})
	if fmt.Sprint(bounds) != "[200 0 200]" || noAt6850.MaxSlippageBps != nil {
		t.Errorf("%v", bounds)
	}
}

// Integrity P14: a market without a quote refuses the call unless unverified calls are allowed.
func TestAllowUnverifiedFilesWithoutABound(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]string{
		"no quote":                   `{"error":"price_moved","reason":"unverified"}`,
		"filed before without bound": `{"error":"idempotency_key_reused"}`,
		"moved":                      `{"error":"price_moved","reason":"moved","noPriceBps":7100}`,
	} {
		c, asked := served(t, Options{Token: Key("dk_x")}, func(_ int, w http.ResponseWriter, r *http.Request) {
			if sent(t, r)["maxSlippageBps"] != nil {
				say(w, 409, refused)
				return
			}
			say(w, 200, `{"ok":true,"id":"`+filedID+`","priceVerified":false}`)
		})
		if _, err := c.Signals.File(t.Context(), noAt6850); err == nil || asked.Load() != 1 {
			t.Errorf("%s: %v after %d requests", name, err, asked.Load())
		}
		filed, err := c.Signals.FileWith(t.Context(), noAt6850, FileOptions{IdempotencyKey: "mine", AllowUnverified: true})
		if name == "moved" {
			e := (*Error)(nil)
			if !errors.Is(err, ErrPriceMoved) || !errors.As(err, &e) || e.Reason() != "moved" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || filed.ID == uuid.Nil || filed.PriceVerified {
			t.Errorf("%s: %+v %v", name, filed, err)
		}
	}
}

// Integrity P15: dry runs send dryRun and no idempotency key.
func TestDryRuns(t *testing.T) {
	t.Parallel()
	c, _ := served(t, Options{Token: Key("dk_x")}, func(_ int, w http.ResponseWriter, r *http.Request) {
		if m := sent(t, r); m["dryRun"] != true || len(r.Header["Idempotency-Key"]) != 0 {
			t.Errorf("%s sends %v %v", r.URL.Path, m, r.Header)
		}
		say(w, 200, `{"ok":true,"dryRun":true,`+numbers+`,"event":{"type":"note","payload":{"text":"rain"},"actor":"owner","createdAt":"2026-09-18T12:00:00.000Z"}}`)
	})
	if n, err := c.Signals.DryRun(t.Context(), noAt6850); err != nil || n.ScoreBasisBps != 6900 {
		t.Errorf("%+v %v", n, err)
	}
	if n, err := c.Signals.DryRunCreate(t.Context(), client.CreationDraft{}); err != nil || !n.Rated {
		t.Errorf("%+v %v", n, err)
	}
	if e, err := c.Signals.DryRunEvent(t.Context(), uuid.MustParse(filedID), Event{Type: "note", Payload: map[string]any{"text": "rain"}}); err != nil || e.Event.Type != "note" {
		t.Errorf("%+v %v", e, err)
	}
}
