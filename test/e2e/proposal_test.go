package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestMarketsByMessage: people open markets, five in a day; machines open none.
func TestMarketsByMessage(t *testing.T) {
	t.Parallel()
	s := up(t)
	p, machine, house := s.person(t), s.person(t), s.person(t)
	w := p.pen(t, "market:create")
	id := w.send(t, "market.create", marketOf(obj{"initialYesBps": 3000, "description": "The gauge of the Odra."})).is(http.StatusCreated).str("result.marketId")
	if !strings.HasPrefix(id, "native-") {
		t.Errorf("id %s", id)
	}
	get(t, s.Hub+"/api/m/"+id).is(http.StatusOK).has(obj{"resolved": false, "description": "The gauge of the Odra."})
	p.call(t, id, "YES", 3000)
	for range 4 {
		w.send(t, "market.create", marketOf()).is(http.StatusCreated)
	}
	full := w.send(t, "market.create", marketOf())
	full.fails(http.StatusTooManyRequests, "rate_limited").has(obj{"limit": 5})
	if full.header.Get("Retry-After") == "" {
		t.Error("a full day does not say when to come again")
	}
	for name, bad := range map[string]obj{
		"too soon":      {"cutoffAt": stamp(t0())},
		"short":         {"question": "Will it?"},
		"no such lane":  {"lane": "WEATHER"},
		"own id":        {"marketId": "native-0000000000"},
		"price too low": {"initialYesBps": 99},
	} {
		if a := w.send(t, "market.create", marketOf(bad)); a.status != http.StatusBadRequest || errorCode(a.body) != "invalid_request" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for _, one := range []*person{machine, house} {
		one.pen(t, "market:create") // signs them up
	}
	post(t, s.Hub+"/api/admin/operators", s.admin(), payload(obj{"handle": machine.user, "operatorType": "ai_agent"})).is(http.StatusOK)
	post(t, s.Hub+"/api/admin/operators", s.admin(), payload(obj{"handle": house.user, "house": true})).is(http.StatusOK)
	machine.pen(t, "market:create").send(t, "market.create", marketOf()).fails(http.StatusForbidden, "forbidden")
	house.pen(t, "market:create").send(t, "market.create", marketOf()).is(http.StatusCreated)
}

// TestProposals: the creator of a market alone proposes its outcome; until the
// proposal ends the market takes no calls.
func TestProposals(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	w := p.pen(t, "market:create", "resolution:create")
	proof := obj{"verdict": "NO", "proofUrl": "https://records.example/gauge", "reason": "peak 5.61 m"}
	propose := func(by *pen, id string) *answer {
		t.Helper()
		content := obj{"marketId": id}
		for name, v := range proof {
			content[name] = v
		}
		return by.send(t, "resolution.create", content)
	}
	for name, c := range map[string]struct {
		end   func(id string)
		takes bool
	}{
		"finalize": {func(id string) {
			s.finalize(t, id, "YES").has(obj{"outcome.outcome": "YES", "outcome.resolver": "manual"}) // the proposal decides nothing
		}, false},
		"cleared dispute": {func(id string) {
			url := s.Hub + "/api/resolution/dispute"
			post(t, url, s.admin(), payload(obj{"marketId": id, "reason": "another gauge"})).is(http.StatusOK)
			s.refused(t, id)
			propose(w, id).fails(http.StatusConflict, "market_disputed")
			post(t, url, s.admin(), payload(obj{"marketId": id, "disputed": false})).is(http.StatusOK)
		}, true},
		"seven days": {func(id string) {
			s.age(t, id, "6 days 23 hours")
			s.refused(t, id)
			if s.proposed(t, id) == nil {
				t.Error("it ended too soon")
			}
			s.age(t, id, "1 hour")
		}, true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			id := w.send(t, "market.create", marketOf()).is(http.StatusCreated).str("result.marketId")
			p.call(t, id, "YES", 5000)
			propose(w, id).is(http.StatusCreated).has(obj{"result.marketId": id})
			s.refused(t, id)
			if shown, ok := s.proposed(t, id).(map[string]any); !ok || shown["verdict"] != "NO" || shown["proofUrl"] != "https://records.example/gauge" {
				t.Errorf("proposed: %v", shown)
			}
			get(t, s.Hub+"/api/resolution/outcome?market="+id).is(http.StatusOK).has(obj{"outcome": nil}) // it decides nothing
			c.end(id)
			if s.proposed(t, id) != nil {
				t.Error("the proposal is still listed")
			}
			a := s.person(t).file(t, id, "NO", 5000)
			if c.takes {
				a.is(http.StatusOK)
				return
			}
			a.fails(http.StatusConflict, "market_closed").has(obj{"reason": "settled"})
			propose(w, id).fails(http.StatusConflict, "already_resolved")
		})
	}
	other := s.person(t).pen(t, "resolution:create")
	id := w.send(t, "market.create", marketOf()).is(http.StatusCreated).str("result.marketId")
	propose(other, id).fails(http.StatusForbidden, "forbidden")
	propose(w, s.native(t, 5000)).fails(http.StatusForbidden, "forbidden") // an admin's market
	propose(w, "native-0000000000").fails(http.StatusNotFound, "market_not_found")
	propose(w, "701122").fails(http.StatusBadRequest, "invalid_request")
	p.call(t, id, "YES", 5000) // nothing of it has touched the market
}

// refused demands that a market takes no call for now.
func (s *stack) refused(t testing.TB, id string) {
	t.Helper()
	s.person(t).file(t, id, "NO", 5000).fails(http.StatusConflict, "market_closed").has(obj{"reason": "provisional"})
}

// age makes the proposal of a market older.
func (s *stack) age(t testing.TB, id, by string) {
	t.Helper()
	s.row(t, `WITH p AS (UPDATE api.resolution_proposals SET proposed_at = proposed_at - $2::text::interval WHERE market_id = $1 RETURNING 1)
		UPDATE api.markets SET provisional_at = provisional_at - $2::text::interval WHERE market_id = $1 AND EXISTS (SELECT 1 FROM p) RETURNING 'older'`, id, by)
}

// proposed is what the list of native markets shows as the proposal of one.
func (s *stack) proposed(t testing.TB, id string) any {
	t.Helper()
	list := get(t, s.Hub+"/api/resolution/markets?status=all&limit=500").is(http.StatusOK)
	for _, row := range list.at("markets").([]any) {
		if m, _ := row.(map[string]any); m["marketId"] == id {
			return m["proposed"]
		}
	}
	t.Fatalf("%s is not listed", id)
	return nil
}
