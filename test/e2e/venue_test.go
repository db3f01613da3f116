package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// eventually is testkit.Eventually with a word for what did not come true.
func eventually(t testing.TB, ok func() bool, what string) {
	t.Helper()
	done := false
	defer func() {
		if !done {
			t.Logf("not seen: %s", what)
		}
	}()
	testkit.Eventually(t, 30*time.Second, ok)
	done = true
}

// scan asks for the outcomes of all venues until nobody else is asking.
func (s *stack) scan(t testing.TB) *answer {
	t.Helper()
	var a *answer
	testkit.Eventually(t, 30*time.Second, func() bool {
		a = post(t, s.Hub+"/api/admin/resolve-signals", s.admin()).is(http.StatusOK).has(obj{"ok": true, "mode": "scan"})
		var report struct{ Busy bool }
		a.into(&report)
		return !report.Busy
	})
	return a
}

// TestVenueMarket: read on demand, called, proposed, decided, claimed and scored.
func TestVenueMarket(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, late := s.person(t), s.person(t)
	market := s.venue(t, 0.4, obj{"question": "Will the ferry to Norrby run all winter?"})
	id := p.call(t, market, "YES", 4200)
	s.signal(t, id).has(obj{"marketTitle": "Will the ferry to Norrby run all winter?", "crowdYesAtSignal": 4000, "priceAtPrediction": 4200})
	get(t, s.Hub+"/api/m/"+market).is(http.StatusOK).has(obj{"provider": "polymarket", "status": "open", "yesBps": 4000, "volumeUnit": "usd", "resolved": false})

	s.turn(t, market, obj{"state": "proposed", "outcome": "YES"})
	eventually(t, func() bool { // a scan reads it and sees that its outcome is in sight
		s.scan(t)
		return late.file(t, market, "YES", 9900).status == http.StatusConflict
	}, "the proposal")
	late.file(t, market, "YES", 9900).is(http.StatusConflict).has(obj{"error": "market_closed", "reason": "provisional"})
	s.signal(t, id).has(obj{"status": "pending"})

	s.turn(t, market, obj{"state": "resolved", "outcome": "YES"})
	eventually(t, func() bool { s.scan(t); return s.signal(t, id).str("status") != "pending" }, "the outcome")
	s.signal(t, id).has(obj{"status": "won", "score": 58, "outcome": "YES", "closePrice": 4000, "clvBps": -200})
	get(t, s.Hub+"/api/resolution/outcome?market="+market).is(http.StatusOK).has(obj{"outcome.outcome": "YES", "outcome.resolver": "oracle", "outcome.source": "polymarket"})
	get(t, s.Hub+"/api/m/"+market).is(http.StatusOK).has(obj{"status": "resolved", "resolved": true, "resolutionValue": "YES"})
	late.file(t, market, "YES", 9900).is(http.StatusConflict).has(obj{"error": "market_closed", "reason": "settled"})
	post(t, s.Hub+"/api/resolution/finalize", s.admin(), payload(obj{"marketId": market, "verdict": "YES"})).fails(http.StatusBadRequest, "invalid_market_id")
}

// TestVoid: a venue that calls it off gives nobody points.
func TestVoid(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.venue(t, 0.3)
	yes, no := s.person(t).call(t, market, "YES", 3000), s.person(t).call(t, market, "NO", 7000)
	s.turn(t, market, obj{"state": "resolved", "outcome": "INVALID"})
	eventually(t, func() bool { // the way of the scheduled job
		get(t, s.Hub+"/api/admin/resolve-signals?secret="+s.CronSecret).is(http.StatusOK).has(obj{"mode": "scan"})
		post(t, s.Hub+"/api/admin/resolve-signals?secret="+s.CronSecret).is(http.StatusOK).has(obj{"mode": "scan"})
		return s.signal(t, yes).str("status") != "pending"
	}, "the outcome")
	for _, id := range []string{yes, no} {
		s.signal(t, id).has(obj{"status": "void", "score": 0, "outcome": nil, "clvBps": nil})
	}
	get(t, s.Hub+"/api/resolution/outcome?market="+market).is(http.StatusOK).has(obj{"outcome.outcome": "INVALID"})
	events := get(t, s.Hub+"/api/signals/"+yes+"/events").is(http.StatusOK)
	events.has(obj{"events.0.type": "resolved", "events.0.payload.outcome": "INVALID", "events.0.payload.status": "void", "events.0.actor": "polymarket"})
}

// TestDispute: a flag stops every door, and clearing it opens them.
func TestDispute(t *testing.T) {
	t.Parallel()
	s := up(t)
	market := s.venue(t, 0.5)
	id := s.person(t).call(t, market, "NO", 5000)
	url := s.Hub + "/api/resolution/dispute"
	post(t, url, s.admin(), payload(obj{"marketId": market, "reason": "the source was edited"})).is(http.StatusOK).
		has(obj{"outcome.disputed": true, "outcome.disputeReason": "the source was edited", "outcome.outcome": nil, "scored": 0})
	post(t, url, s.admin(), payload(obj{"marketId": market, "disputed": true, "reason": "edited twice"})).is(http.StatusOK).has(obj{"outcome.disputeReason": "edited twice"})
	s.person(t).file(t, market, "YES", 5000).is(http.StatusConflict).has(obj{"error": "market_closed", "reason": "provisional"})
	s.turn(t, market, obj{"state": "resolved", "outcome": "NO"})
	a := s.scan(t)
	if n, err := dig(a.at("skipped"), "disputed"); err != nil || same(n, 0) {
		t.Errorf("scan: %s", a.body)
	}
	post(t, s.Hub+"/api/admin/resolve-signals", s.admin(), payload(obj{"marketId": market, "outcome": "NO"})).fails(http.StatusConflict, "market_disputed")
	s.signal(t, id).has(obj{"status": "pending"})
	get(t, s.Hub+"/api/resolution/outcome?market="+market).is(http.StatusOK).has(obj{"outcome.disputed": true, "outcome.outcome": nil})

	post(t, url, s.admin(), payload(obj{"marketId": market, "disputed": false})).is(http.StatusOK).has(obj{"outcome": nil})
	eventually(t, func() bool { s.scan(t); return s.signal(t, id).str("status") != "pending" }, "the outcome")
	s.signal(t, id).has(obj{"status": "won", "score": 49})
	types := map[string]bool{}
	eventually(t, func() bool {
		for _, item := range get(t, s.API+"/api/v1/feed?types=market.disputed,market.dispute_cleared,market.resolved&limit=200").list("items") {
			if m := item.(map[string]any); m["marketId"] == market {
				types[m["type"].(string)] = true
			}
		}
		return len(types) == 3
	}, "the events of the dispute")
	// A native market: finalize is held up as well, and given scores stand.
	native := s.native(t, 5000)
	mine := s.person(t).call(t, native, "YES", 5000)
	post(t, url, s.admin(), payload(obj{"marketId": native})).is(http.StatusOK)
	post(t, s.Hub+"/api/resolution/finalize", s.admin(), payload(obj{"marketId": native, "verdict": "YES"})).fails(http.StatusConflict, "market_disputed")
	post(t, url, s.admin(), payload(obj{"marketId": native, "disputed": false})).is(http.StatusOK)
	s.finalize(t, native, "YES")
	post(t, url, s.admin(), payload(obj{"marketId": native, "reason": "late doubt"})).is(http.StatusOK).has(obj{"outcome.outcome": "YES", "outcome.disputed": true})
	s.signal(t, mine).has(obj{"status": "won", "score": 50})
	post(t, url, s.admin(), payload(obj{"marketId": "native-0123456789abcdef", "disputed": true})).fails(http.StatusNotFound, "market_not_found")
}

// TestUnknownMarkets: the venue knows no such market, and neither do we.
func TestUnknownMarkets(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	for _, id := range []string{"9999999999", "native-0123456789abcdef", "kalshi-NOPE", "lmt-nope", "manifold-nope"} {
		p.file(t, id, "YES", 5000).is(http.StatusNotFound).has(obj{"error": "market_not_found", "marketId": id})
		get(t, s.Hub+"/api/m/"+id).fails(http.StatusNotFound, "not_found")
		get(t, s.Hub+"/api/m/"+id+"/signals").is(http.StatusOK).has(obj{"marketId": id, "count": 0})
		get(t, s.Hub+"/api/m/"+id+"/crowd").is(http.StatusOK).has(obj{"marketId": id, "totalSignals": 0, "yesPercent": nil})
		get(t, s.Hub+"/api/resolution/outcome?market="+id).is(http.StatusOK).has(obj{"marketId": id, "outcome": nil})
	}
	for _, id := range []string{"polymarket:1", "-1", "native-", "kalshi-a/b", "%00", "x", "0x1"} {
		get(t, s.Hub+"/api/m/"+id).is(http.StatusNotFound)
		p.file(t, id, "YES", 5000).fails(http.StatusBadRequest, "invalid_market_id")
	}
	ended := s.venue(t, 0.5, obj{"endDate": stamp(time.Now().Add(-time.Hour))})
	p.file(t, ended, "YES", 5000).is(http.StatusConflict).has(obj{"error": "market_closed", "reason": "provisional"})
	get(t, s.Hub+"/api/m/"+ended).is(http.StatusOK).has(obj{"status": "open"}) // the venue has not closed it
	get(t, s.Hub+"/api/resolution/outcome").fails(http.StatusBadRequest, "missing_market")
	for _, id := range []string{"0199f0a4-0000-7000-8000-00000000ffff", "nope", "0199F0A4-0000-7000-8000-00000000FFFF"} {
		get(t, s.Hub+"/api/signals/"+id).fails(http.StatusNotFound, "not_found")
		get(t, s.Hub+"/api/signals/"+id+"/events").fails(http.StatusNotFound, "not_found")
		post(t, s.Hub+"/api/signals/"+id+"/events", p.auth(t), payload(obj{"type": "reaffirm"})).fails(http.StatusNotFound, "not_found")
	}
}
