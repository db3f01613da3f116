package edge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
)

const preempting = "/api/broadcast/preempt"

func TestPreempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	golden(t, "preempt/none", b.send("GET", preempting, "", byAdmin()))
	golden(t, "preempt/kept", b.send("POST", preempting,
		`{"marketId":"701122","lane":"sports","startsAt":"2026-09-18T12:08:10Z","slots":2,"reason":"The gauge rises"}`, byAdmin()))
	golden(t, "preempt/kept_bare", b.send("POST", preempting, `{"marketId":"701122","lane":null,"slots":null,"reason":null,"action":null}`, byAdmin()))
	want(t, b.send("POST", preempting, `{"marketId":"701122","startsAt":"2026-09-18T12:08:10Z"}`, byAdmin()), 409, "slot_taken")
	golden(t, "preempt/cancelled", b.send("POST", preempting, `{"action":"cancel","id":"0199F0D0-0000-7000-8000-000000000001"}`, byAdmin()))
	golden(t, "preempt/all", b.send("GET", preempting, "", byAdmin()))
	w := b.send("GET", preempting, "", byAdmin(), with("Origin", "https://elsewhere.example"))
	if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v", w.Header())
	}
}

func TestPreemptMistakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entry := func(members string) string { return `{"marketId":"701122",` + members + `}` }
	for body, code := range map[string]string{
		`{}`: "missing_market_id", `{"marketId":"polymarket:7"}`: "invalid_market_id",
		entry(`"lane":7`): "invalid_lane", entry(`"lane":"` + strings.Repeat("x", 33) + `"`): "invalid_lane",
		entry(`"startsAt":"tonight"`): "invalid_starts_at", entry(`"slots":0`): "invalid_slots", entry(`"slots":7`): "invalid_slots", entry(`"slots":1.5`): "invalid_slots",
		entry(`"reason":"` + strings.Repeat("r", 181) + `"`): "invalid_reason", entry(`"reason":"a\nb"`): "invalid_reason", entry(`"reason":"\u202ea"`): "invalid_reason", entry(`"reason":" \u200b"`): "invalid_reason",
		entry(`"id":7`): "invalid_id", entry(`"id":"7"`): "invalid_id", `{"action":7}`: "invalid_action", `{"action":"","id":"7"}`: "invalid_action",
		`{"action":"cancel"}`: "missing_id", `{"action":"cancel","id":"7"}`: "invalid_id", `{"action":"stop","id":"0199f0d0-0000-7000-8000-000000000001"}`: "invalid_action",
	} {
		want(t, b.send("POST", preempting, body, byAdmin()), 400, code)
	}
	want(t, b.send("POST", preempting, `{"marketId":"999"}`, byAdmin()), 404, "market_not_found")
	want(t, b.send("POST", preempting, `{"action":"cancel","id":"0199f0d0-0000-7000-8000-00000000ffff"}`, byAdmin()), 404, "not_found")
	for _, method := range []string{"GET", "POST"} {
		body := map[string]string{"POST": entry(`"slots":1`)}[method]
		want(t, b.send(method, preempting, body), 401, "unauthenticated")
		want(t, b.send(method, preempting, body, b.byKey()), 401, "unauthenticated")
		want(t, b.send(method, preempting+"?secret="+cronSecret, body), 401, "unauthenticated")
		want(t, b.send(method, preempting, body, with("X-Admin-Secret", "guess")), 403, "forbidden")
	}
}

// Without a clock, and with one that is away, a director hears so.
func TestPreemptWithoutClock(t *testing.T) {
	t.Parallel()
	none := setup(t, func(_ *edge.Config, d *edge.Deps) { d.Programs, d.Director = nil, nil })
	away := setup(t)
	away.ledger.Lock()
	away.ledger.Before = func(_ context.Context, method string) error {
		if strings.HasSuffix(method, "Preempt") || strings.HasSuffix(method, "Preempts") {
			return fault.New(fault.Unavailable, "clock_unavailable", "")
		}
		return nil
	}
	away.ledger.Unlock()
	for _, b := range []*bench{none, away} {
		want(t, b.send("GET", preempting, "", byAdmin()), 503, "signal_service_unavailable")
		want(t, b.send("POST", preempting, `{"marketId":"701122"}`, byAdmin()), 503, "signal_service_unavailable")
		want(t, b.send("POST", preempting, `{"action":"cancel","id":"0199f0d0-0000-7000-8000-000000000001"}`, byAdmin()), 503, "signal_service_unavailable")
	}
}
