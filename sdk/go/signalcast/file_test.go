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

// sent returns the decoded JSON members of a request body.
func sent(t *testing.T, r *http.Request) map[string]any {
	raw, err := io.ReadAll(r.Body)
	var v map[string]any
	if err != nil || json.Unmarshal(raw, &v) != nil {
		t.Errorf("%v: %s", err, raw)
	}
	return v
}

// TestFileSendsABoundAndAnswersTheStoredNumbers checks that a call is sent with a maxSlippageBps of 200 by default, and that
// File returns the stored prices.
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

// TestAllowUnverifiedIsSentWithTheBound checks that allowUnverified is sent together with maxSlippageBps in a single request.
// The server checks both members, so the client does not send a second request after a rejection.
func TestAllowUnverifiedIsSentWithTheBound(t *testing.T) {
	t.Parallel()
	var bodies []string
	status, answer := 200, `{"ok":true,"id":"`+filedID+`","priceVerified":false}`
	c, requests := served(t, Options{Token: Key("dk_x")}, func(_ int, w http.ResponseWriter, r *http.Request) {
		m := sent(t, r)
		bodies = append(bodies, fmt.Sprint(m["maxSlippageBps"], m["allowUnverified"], m["dryRun"]))
		say(w, status, answer)
	})
	allow, fifty, yes := FileOptions{IdempotencyKey: "mine", AllowUnverified: true}, 50, true
	own := noAt6850
	own.MaxSlippageBps, own.AllowUnverified = &fifty, &yes
	if filed, err := c.Signals.FileWith(t.Context(), noAt6850, allow); err != nil || filed.ID == uuid.Nil || filed.PriceVerified {
		t.Errorf("%+v %v", filed, err)
	}
	_, _ = c.Signals.File(t.Context(), noAt6850)
	_, _ = c.Signals.File(t.Context(), own)
	_, _ = c.Signals.CreateWith(t.Context(), client.CreationDraft{}, allow)
	_, _ = c.Signals.DryRun(t.Context(), own)
	if got, want := fmt.Sprintf("%q", bodies), `["200 true <nil>" "200 <nil> <nil>" "50 true <nil>" "200 true <nil>" "50 true true"]`; got != want {
		t.Errorf("bound, allowUnverified and dryRun are sent as %s; want %s", got, want)
	}
	if noAt6850.AllowUnverified != nil {
		t.Error("the draft of the caller was changed")
	}
	for reason, refused := range map[string]string{
		"unverified": `{"error":"price_moved","reason":"unverified"}`,
		"moved":      `{"error":"price_moved","reason":"moved","noPriceBps":7100}`,
		"":           `{"error":"idempotency_key_reused"}`,
	} {
		status, answer = 409, refused
		for _, o := range []FileOptions{{}, allow} {
			before := requests.Load()
			_, err := c.Signals.FileWith(t.Context(), noAt6850, o)
			if e := (*Error)(nil); !errors.As(err, &e) || e.Reason() != reason || errors.Is(err, ErrPriceMoved) == (reason == "") {
				t.Errorf("%s with %+v: %v", refused, o, err)
			}
			if n := requests.Load() - before; n != 1 {
				t.Errorf("%s with %+v: %d requests; want 1", refused, o, n)
			}
		}
	}
}

// TestDryRuns checks that dry runs send dryRun and no idempotency key.
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
