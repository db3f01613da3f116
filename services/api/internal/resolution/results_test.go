package resolution_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// payouts contains the payouts of the samples with the outcome INVALID. The payouts of all other samples are 1 or 0.
var payouts = map[protocol.MarketID]string{
	"7100014": "0.5", "kalshi-KXTEMP-26SEP30-B71.5": "0.24", "kalshi-KXMATCH-26SEP30OCUM-OC": "0.5", "kalshi-KXMATCH-26SEP29ABCD-AB": "-",
	"lmt-resolved-split-1788000000002": "0.5", "manifold-q7invented08": "0.37", "manifold-q7invented09": "-",
}

// TestResultsOfEveryVenue stores each sample of each venue as a market with open calls. A market whose sample is expected to be
// resolved must be resolved once, after the grace period and a second read. No other market may be resolved.
func TestResultsOfEveryVenue(t *testing.T) {
	t.Parallel()
	w := setupAdapters(t, false)
	const calls = 3
	claims, first, later := map[protocol.MarketID]string{}, map[string]int{}, map[string]int{}
	var ids []protocol.MarketID
	voids := 0
	for _, p := range everyVenue {
		kinds := map[string]int{}
		for name, e := range expectations(t, p) {
			w.Set(recordPath(e.ID), venuetest.Sample(t, p, name))
			w.called(e.ID, calls)
			ids = append(ids, e.ID)
			kind := map[string]string{
				"open": resolution.SkipUndecided, "closed": resolution.SkipProvisional, "unknown": resolution.SkipUnknown, "resolved": resolution.SkipGrace,
			}[e.Status]
			first[kind]++
			if e.Outcome == nil {
				later[kind]++
				continue
			}
			kinds[string(*e.Outcome)]++
			paid := payouts[e.ID]
			switch *e.Outcome {
			case protocol.VerdictYes:
				paid = "1"
			case protocol.VerdictNo:
				paid = "0"
			default:
				voids += calls
			}
			claims[e.ID] = fmt.Sprintf("%s %s %s", *e.Outcome, p, paid)
		}
		if len(kinds) != 3 {
			t.Errorf("%s has only samples of the outcomes %v", p, kinds)
		}
	}
	reads := func(want map[protocol.MarketID]bool) {
		t.Helper()
		asked := w.take()
		for _, id := range ids {
			n := 0
			if want == nil || want[id] {
				n = 1
			}
			if asked[recordPath(id)] != n {
				t.Errorf("%s was read %d times, want %d", id, asked[recordPath(id)], n)
			}
		}
	}
	w.want(w.scan(), len(ids), 0, 0, first, 0)
	reads(nil)
	w.clock.Advance(grace - time.Second)
	w.want(w.scan(), len(ids), 0, 0, first, 0)
	reads(nil)
	w.clock.Advance(time.Second)
	w.want(w.scan(), len(ids), len(claims), int64(calls*len(claims)), later, 0)
	reads(nil)
	waiting := map[protocol.MarketID]bool{}
	for _, id := range ids {
		if got := w.outcome(id); got != claims[id] {
			t.Errorf("%s was resolved as %q, want %q", id, got, claims[id])
		}
		waiting[id] = claims[id] == ""
	}
	w.want(w.scan(), len(ids)-len(claims), 0, 0, later, 0)
	reads(waiting)
	if n := w.count(`SELECT count(*) FROM api.signal_results WHERE status = 'void'`); n != voids {
		t.Errorf("%d calls are void, want %d", n, voids)
	}
	if n := w.count(`SELECT count(*) FROM api.signal_results WHERE status IN ('won', 'lost')`); n != calls*len(claims)-voids {
		t.Errorf("%d calls won or lost, want %d", n, calls*len(claims)-voids)
	}
	t.Logf("%d markets, %d claimed, %v waiting", len(ids), len(claims), later)
}

// change is the next answer of a venue about a market, and the expected result of a scan.
type change struct {
	sample  string
	edit    map[string]any
	after   time.Duration // time since the previous change
	skipped string        // expected reason for which the market is skipped; empty: resolved
}

// TestChangedResultIsNotClaimed checks that the grace period starts again when a result is amended, unlocked or undone. Calls
// must stay open until a result has been final for the whole period.
func TestChangedResultIsNotClaimed(t *testing.T) {
	t.Parallel()
	const most = grace - time.Second
	resolvedAt := func(at time.Time) map[string]any {
		return map[string]any{"isResolved": true, "resolution": "NO", "resolutionTime": at.UnixMilli(), "closeTime": at.UnixMilli()}
	}
	for _, c := range []struct {
		name  string
		id    protocol.MarketID
		steps []change
	}{
		{"amended", "kalshi-KXRIVER-26SEP30-T4.5", []change{
			{"market_resolved_yes.json", map[string]any{"status": "determined"}, 0, resolution.SkipProvisional},
			{"market_resolved_yes.json", nil, most, resolution.SkipGrace},
			{"market_resolved_yes.json", map[string]any{"status": "disputed"}, most, resolution.SkipProvisional},
			{"market_resolved_yes.json", nil, most, resolution.SkipGrace},
			{"market_resolved_yes.json", map[string]any{"status": "amended", "result": "no", "settlement_value_dollars": "0.0000"}, most, resolution.SkipProvisional},
			{"market_resolved_yes.json", map[string]any{"result": "no", "settlement_value_dollars": "0.0000"}, 24 * time.Hour, resolution.SkipGrace},
			{"market_resolved_yes.json", map[string]any{"result": "no", "settlement_value_dollars": "0.0000"}, grace, ""},
		}},
		{"another result at once", "kalshi-KXRIVER-26SEP30-T5.0", []change{
			{"market_resolved_no.json", map[string]any{"result": "yes", "settlement_value_dollars": "1.0000"}, 0, resolution.SkipGrace},
			{"market_resolved_no.json", nil, grace, resolution.SkipGrace},
			{"market_resolved_no.json", nil, grace, ""},
		}},
		{"unlocked", "lmt-resolved-no-1788000000001", []change{
			{"market_resolved_no.json", map[string]any{"winningOutcomeIndex": 0, "payoutNumerators": []string{"1", "0"}}, 0, resolution.SkipGrace},
			{"market_resolved_no.json", map[string]any{"status": "LOCKED", "winningOutcomeIndex": nil}, most, resolution.SkipProvisional},
			{"market_resolved_no.json", map[string]any{
				"status": "FUNDED", "expired": false, "winningOutcomeIndex": nil, "expirationTimestamp": noon.Add(240 * time.Hour).UnixMilli(),
			}, most, resolution.SkipUndecided},
			{"market_resolved_no.json", map[string]any{"status": "LOCKED", "winningOutcomeIndex": nil}, 24 * time.Hour, resolution.SkipProvisional},
			{"market_resolved_no.json", nil, grace, resolution.SkipGrace},
			{"market_resolved_no.json", nil, grace, ""},
		}},
		{"undone", "manifold-q7invented18", []change{
			{"market_provisional_just_resolved.json", nil, 0, resolution.SkipProvisional},   // ten minutes old
			{"market_provisional_just_resolved.json", nil, time.Hour, resolution.SkipGrace}, // final by its age
			{"market_provisional_just_resolved.json", map[string]any{"isResolved": false, "resolution": nil, "resolutionTime": nil, "closeTime": noon.Add(240 * time.Hour).UnixMilli()}, most, resolution.SkipUndecided},
			{"market_provisional_just_resolved.json", resolvedAt(noon.Add(3 * time.Hour)), 3 * time.Hour, resolution.SkipGrace},
			{"market_provisional_just_resolved.json", resolvedAt(noon.Add(3 * time.Hour)), grace, ""},
		}},
		{"proposed again", "7100013", []change{
			{"market_resolved_no.json", map[string]any{"outcomePrices": `["1", "0"]`}, 0, resolution.SkipGrace},
			{"market_resolved_no.json", map[string]any{"umaResolutionStatus": "disputed"}, most, resolution.SkipProvisional},
			{"market_resolved_no.json", map[string]any{"umaResolutionStatus": "proposed"}, grace, resolution.SkipProvisional},
			{"market_resolved_no.json", nil, grace, resolution.SkipGrace},
			{"market_resolved_no.json", nil, grace, ""},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := setupAdapters(t, false)
			w.called(c.id, 2)
			for i, s := range c.steps {
				w.clock.Advance(s.after)
				w.Set(recordPath(c.id), edited(t, c.id.Provider(), s.sample, s.edit))
				report := w.scan()
				if s.skipped == "" {
					w.want(report, 1, 1, 2, map[string]int{}, 0)
					continue
				}
				if report.Resolved != 0 || report.Scanned != 1 || report.Skipped[s.skipped] != 1 || w.count(`SELECT count(*) FROM api.signal_results`) != 0 {
					t.Errorf("step %d: %+v, want it skipped as %s", i, report, s.skipped)
				}
			}
			if got, want := w.outcome(c.id), fmt.Sprintf("NO %s 0", c.id.Provider()); got != want {
				t.Errorf("resolved as %q, want %q", got, want)
			}
		})
	}
}

// TestAVenueThatHangs checks that the markets of a venue without answers are reported as errors. Markets of other venues must
// be resolved in the same pass, and the venue must soon receive no more requests.
func TestAVenueThatHangs(t *testing.T) {
	t.Parallel()
	w := setupAdapters(t, true)
	for id, name := range map[protocol.MarketID]string{
		"7100012": "market_resolved_yes.json", "lmt-resolved-yes-1788000000000": "market_resolved_yes.json", "manifold-q7invented06": "market_resolved_yes.json",
	} {
		w.Set(recordPath(id), venuetest.Sample(t, id.Provider(), name))
		w.called(id, 1)
	}
	const hung = 40
	for i := range hung {
		w.called(protocol.MarketID(fmt.Sprintf("kalshi-KXHUNG-%d", i)), 1)
	}
	w.scan()
	w.clock.Advance(grace)
	w.Hang("/kalshi/")
	w.take()
	start := time.Now()
	report := w.scan()
	w.want(report, hung+3, 3, 3, map[string]int{}, hung)
	for _, e := range report.Errors {
		if e.Code != "venue_unavailable" {
			t.Errorf("%s: error code %s, want venue_unavailable", e.MarketID, e.Code)
		}
	}
	asked := 0
	for _, n := range w.take() {
		asked += n
	}
	if took := time.Since(start); took > 20*time.Second || asked > 3+2*8 {
		t.Errorf("a pass took %v and %d requests", took, asked)
	}
}
