package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestRecordOfAnOperator: a call that is won at long odds is a moment, and shows in every
// place where its caller's record does.
func TestRecordOfAnOperator(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	get(t, s.Hub+"/api/network/field-record/me", p.auth(t)).is(http.StatusOK).has(obj{"handle": p.user, "rank": nil, "calls": 0})
	atom, field := s.Hub+"/api/operator/"+p.user, s.Hub+"/api/network/field-record/"+p.user
	get(t, field).is(http.StatusOK).has(obj{"rank": nil, "calls": 0, "score": 0, "streak": 0, "avgClvBps": nil})
	get(t, atom+"/skill").is(http.StatusOK).has(obj{"report": nil})
	market, other := s.venue(t, 0.30, obj{"spread": 0}), s.native(t, 5000)
	id := p.call(t, market, "YES", 3000, obj{"confidence": 60})
	waits := p.call(t, other, "NO", 5000, nil)
	s.turn(t, market, obj{"state": "resolved", "outcome": "YES"})
	s.settled(t, id)

	get(t, s.Hub+"/api/network/field-record/me", p.auth(t)).is(http.StatusOK).has(obj{
		"handle": p.user, "origin": "hub", "calls": 2, "resolved": 1, "correct": 1, "pending": 1, "accuracy": 100, "score": 70, "streak": 1,
		"recent.0.signalId": waits, "recent.1.signalId": id, "recent.1.status": "won", "recent.1.receiptUrl": s.Hub + "/receipts/" + id,
		"profileUrl": s.Hub + "/u/" + p.user,
	})
	get(t, s.Hub+"/api/network/field-record/me").fails(http.StatusUnauthorized, "unauthenticated")
	testkit.Eventually(t, 5*time.Second, func() bool {
		return same(get(t, field).is(http.StatusOK).at("resolved"), 1)
	})
	if rank := get(t, field).at("rank"); rank == nil {
		t.Error("nobody is ranked")
	}
	testkit.Eventually(t, 5*time.Second, func() bool {
		return same(get(t, atom).is(http.StatusOK).at("stats.resolvedCalls"), 1)
	})
	get(t, atom).has(obj{
		"rank": "RECRUIT", "stats.totalCalls": 2, "stats.streak": 1, "stats.bestCall.oddsBps": 3000, "stats.bestCall.signalId": id,
		"live": false, "liveSignal": nil, "recentCalls.0.signalId": waits, "moments.0.tier": "UNCOMMON", "moments.0.oddsBps": 3000,
		"moments.0.signalId": id, "moments.0.score": 70, "moments.0.direction": "YES", "_meta.atomVersion": "1.0", "_meta.atomUrl": atom,
	})
	mintedIn(t, s, p, id, get(t, atom).str("moments.0.id"))
	testkit.Eventually(t, 60*time.Second, func() bool { // the page of before is kept for a while
		a := get(t, atom+"/skill").is(http.StatusOK)
		return a.at("report") != nil && same(a.at("report.calls"), 1)
	})
	get(t, atom+"/skill").has(obj{"report.edgeBps": 7000, "report.lowBps": -2750, "report.calibration.calls": 1, "lanes.0.lane": "SCIENCE"})
	measured(t, s, p)
	get(t, s.Hub+"/api/network/pulse").is(http.StatusOK)
}

// mintedIn finds the moment in the feed, directly behind the result that it is of.
func mintedIn(t *testing.T, s *stack, p *person, signal, moment string) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool {
		items := get(t, s.API+"/api/v1/feed?limit=200&handle="+p.user).is(http.StatusOK).list("items") // newest first
		for i := range items {
			m := items[i].(map[string]any)
			if m["type"] != "moment.minted" {
				continue
			}
			if data := m["data"].(map[string]any); data["id"] != moment || data["signalId"] != signal || data["tier"] != "UNCOMMON" || !same(data["oddsBps"], 3000) {
				t.Errorf("moment.minted: %v", data)
			}
			if i+1 == len(items) || items[i+1].(map[string]any)["type"] != "signal.resolved" {
				t.Errorf("it stands behind %v", items[i+1:])
			}
			return true
		}
		return false
	})
}

// measured finds the operator on the boards of the edge.
func measured(t *testing.T, s *stack, p *person) {
	t.Helper()
	testkit.Eventually(t, 30*time.Second, func() bool {
		hub := get(t, s.Hub+"/api/operator/leaderboard?order=edge&limit=100").is(http.StatusOK).has(obj{"order": "edge", "window": "all"})
		api := get(t, s.API+"/api/v1/signals/leaderboard?order=edge&limit=200").is(http.StatusOK)
		return holds(hub.list("leaderboard"), "handle", p.user) && holds(api.list("leaderboard"), "callsign", p.user)
	})
	for _, row := range get(t, s.Hub+"/api/operator/leaderboard?order=edge&limit=100").list("leaderboard") {
		m := row.(map[string]any)
		edge := m["edge"].(map[string]any)
		if m["handle"] == p.user && (!same(edge["calls"], 1) || !same(edge["edgeBps"], 7000)) {
			t.Errorf("edge: %v", edge)
		}
	}
}
