package resolution_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/signal"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// afterTheEnd lists the times at which late calls are filed, in seconds after the end of a market.
var afterTheEnd = []int{0, 1, 5, 30, 120}

// end is the end of trading on a market. open contains the changes of its sample that show it as open, and timeless those that
// remove the time of the end.
type end struct {
	at             time.Time
	open, timeless map[string]any
}

// ends contains one market of each venue. timeless is nil if the venue always states the time of the end.
var ends = map[protocol.MarketID]end{
	"7100012": {
		time.Date(2026, 9, 20, 6, 12, 29, 0, time.UTC),
		map[string]any{"closed": false, "closedTime": nil, "umaResolutionStatus": nil, "acceptingOrders": true, "outcomePrices": `["0.5", "0.5"]`},
		map[string]any{"closedTime": nil},
	},
	"kalshi-KXRIVER-26SEP30-T4.5": {
		time.Date(2026, 9, 30, 18, 19, 39, 0, time.UTC),
		map[string]any{"status": "active", "result": "", "close_time": "2026-12-01T00:00:00Z", "settlement_ts": nil, "settlement_value_dollars": nil},
		map[string]any{"close_time": nil, "settlement_ts": nil},
	},
	"lmt-resolved-yes-1788000000000": {
		time.UnixMilli(1790812740000),
		map[string]any{"status": "FUNDED", "expired": false, "winningOutcomeIndex": nil, "payoutNumerators": nil, "expirationTimestamp": noon.AddDate(0, 1, 0).UnixMilli()},
		map[string]any{"expirationTimestamp": nil},
	},
	"manifold-q7invented06": {
		time.UnixMilli(1790812740000),
		map[string]any{"isResolved": false, "resolution": nil, "resolutionTime": nil, "closeTime": noon.AddDate(0, 1, 0).UnixMilli()},
		nil, // the venue states the time of every final result
	},
}

// fileLate files calls after the end of a market while the ledger does not know the end yet.
func (w *adapterLedger) fileLate(id protocol.MarketID, end time.Time) {
	w.t.Helper()
	for _, seconds := range afterTheEnd {
		w.clock.Set(end.Add(time.Duration(seconds) * time.Second))
		if v := w.fileAs(id, fmt.Sprint("late ", seconds), protocol.Yes); v != signal.VerdictFiled {
			w.t.Fatalf("%s: %s %d s after the end", id, v, seconds)
		}
	}
}

// settle scans, waits for the grace period, scans again, and returns the number of scored calls.
func (w *adapterLedger) settle() int64 {
	w.t.Helper()
	w.scan()
	w.clock.Advance(grace)
	return w.scan().Scored
}

// requireLate requires that one call on the market is won, and that the given number of calls are void as late.
func (w *adapterLedger) requireLate(id protocol.MarketID, late int) {
	w.t.Helper()
	const results = `SELECT count(*) FROM api.signals s JOIN api.signal_results r ON r.signal_id = s.id WHERE s.market_id = $1 AND `
	if n := w.count(results+`r.status = 'won' AND r.reason IS NULL`, string(id)); n != 1 {
		w.t.Errorf("%s: %d calls from before the end are won, want 1", id, n)
	}
	if n := w.count(results+`r.status = 'void' AND r.reason = 'late' AND r.score = 0 AND NOT r.counted`, string(id)); n != late {
		w.t.Errorf("%s: %d calls are late, want %d", id, n, late)
	}
}

// TestCallsAfterTheVenuesEndAreLate checks calls that are filed after the end of trading, but before the ledger has read the
// end from the venue. They must become void as late.
func TestCallsAfterTheVenuesEndAreLate(t *testing.T) {
	t.Parallel()
	w := setupAdapters(t, false)
	for id, e := range ends {
		w.clock.Set(e.at.Add(-time.Second))
		w.venueMarket(string(id), noon.Add(time.Hour), false)
		w.file(string(id), 1)
		w.fileLate(id, e.at)
		w.Set(recordPath(id), venuetest.Sample(t, id.Provider(), "market_resolved_yes.json"))
	}
	w.clock.Set(noon)
	if n := w.settle(); n != int64(len(ends)*(1+len(afterTheEnd))) {
		t.Errorf("%d calls scored, want all", n)
	}
	for id := range ends {
		w.requireLate(id, len(afterTheEnd))
	}
}

// TestCallsAfterTheLastOpenAnswerAreLate checks late calls on venues that do not state the time of the end. Calls after the
// newest answer that showed the market as open must become void as late.
func TestCallsAfterTheLastOpenAnswerAreLate(t *testing.T) {
	t.Parallel()
	w, ends := setupAdapters(t, false), maps.Clone(ends)
	maps.DeleteFunc(ends, func(_ protocol.MarketID, e end) bool { return e.timeless == nil })
	for id, e := range ends {
		w.clock.Set(noon.Add(-time.Second))
		w.venueMarket(string(id), noon.Add(time.Hour), false)
		w.file(string(id), 1)
		w.clock.Set(noon)
		w.Set(recordPath(id), edited(t, id.Provider(), "market_resolved_yes.json", e.open))
		if m, err := w.markets.Refresh(t.Context(), id); err != nil || m.Status != protocol.MarketOpen {
			t.Fatalf("%s reads %s, %v", id, m.Status, err)
		}
		w.fileLate(id, noon)
		w.Set(recordPath(id), edited(t, id.Provider(), "market_resolved_yes.json", e.timeless))
	}
	w.clock.Set(noon.Add(3 * time.Minute))
	if n := w.settle(); n != int64(len(ends)*(1+len(afterTheEnd))) {
		t.Errorf("%d calls scored, want all", n)
	}
	for id := range ends {
		w.requireLate(id, len(afterTheEnd))
	}
}

// TestCallsAreRefusedOnceTheEndIsKnown checks that calls are rejected once the ledger has read the end of the market.
func TestCallsAreRefusedOnceTheEndIsKnown(t *testing.T) {
	t.Parallel()
	w := setupAdapters(t, false)
	for id := range ends {
		w.venueMarket(string(id), noon.Add(time.Hour), false)
		w.Set(recordPath(id), venuetest.Sample(t, id.Provider(), "market_resolved_yes.json"))
		w.clock.Advance(time.Second)
		if _, err := w.markets.Refresh(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		for _, seconds := range afterTheEnd {
			if v := w.fileAs(id, fmt.Sprint("late ", seconds), protocol.Yes); v != signal.VerdictProvisional {
				t.Errorf("%s: verdict %s, want provisional", id, v)
			}
		}
	}
}
