package polymarket_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

type simulator struct {
	*venuetest.Simulator
	t *testing.T
}

func startSimulator(t *testing.T) *simulator {
	t.Helper()
	return &simulator{venuetest.StartSimulator(t, ""), t}
}

func (s *simulator) post(path, body string) map[string]any {
	s.t.Helper()
	return s.Post("polymarket/"+path, body)
}

// adapter reads the simulator; each has its own rate and breaker.
func (s *simulator) adapter() venue.Venue {
	s.t.Helper()
	a, err := polymarket.New(polymarket.Config{
		GammaURL: s.URL + "/gamma", ClobURL: s.URL + "/clob", RequestsPerSecond: 1000, PastEndIsProvisional: true,
	}, venue.NewMeter(prometheus.NewRegistry()), time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func TestSweepOfTheSimulator(t *testing.T) {
	t.Parallel()
	sim := startSimulator(t)
	a := sim.adapter()
	id := sim.post("markets", `{"question":"Will the invented canal be full?","yesPrice":0.25,"volume":1e9}`)["id"].(string)
	seen, lanes, cursor, statuses := map[string]bool{}, map[string]int{}, "", map[string]int{}
	for {
		page, next, err := a.List(t.Context(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			seen[m.ID] = true
			lanes[m.Lane]++
			statuses[m.Status]++
		}
		if next == "" {
			break
		}
		cursor = next
	}
	if len(seen) < 3000 || !seen[id] || statuses[venue.Open] < 2500 {
		t.Errorf("%d markets, created one seen %v, %v", len(seen), seen[id], statuses)
	}
	if len(lanes) < 10 || lanes["OTHER"] > len(seen)/20 {
		t.Errorf("lanes: %v", lanes)
	}
}

func TestLifeOfASimulatedMarket(t *testing.T) {
	t.Parallel()
	sim := startSimulator(t)
	a := sim.adapter()
	id := sim.post("markets", `{"question":"Will the invented canal be full?","yesPrice":0.25,"tags":["Weather"]}`)["id"].(string)
	read := func(step, status, outcome string, provisional, disputed bool, bps int) venue.Market {
		t.Helper()
		m, err := a.Get(t.Context(), id)
		if err != nil || m.Status != status || m.Outcome != outcome || m.Provisional != provisional || m.Disputed != disputed || m.YesBps == nil || *m.YesBps != bps {
			t.Fatalf("%s: %+v %v", step, m, err)
		}
		return m
	}
	m := read("new", venue.Open, "", false, false, 2500)
	if m.Lane != "SCIENCE" || m.EventKey == "" || m.ProofURL == "" {
		t.Errorf("%+v", m)
	}
	sim.post("markets/"+id, `{"yesPrice":0.61505}`)
	quoted, err := a.Quote(t.Context(), []string{id})
	if err != nil || len(quoted) != 1 || *quoted[0].YesBps != 6151 {
		t.Errorf("quote: %+v %v", quoted, err)
	}
	points, err := a.History(t.Context(), m, venue.All)
	if err != nil || len(points) > 1 {
		t.Errorf("history: %v %v", points, err)
	}
	sim.post("markets/"+id, `{"state":"proposed","outcome":"NO"}`)
	read("proposed", venue.Closed, "", true, false, 6151)
	sim.post("markets/"+id, `{"state":"disputed"}`)
	read("disputed", venue.Closed, "", true, true, 6151)
	sim.post("markets/"+id, `{"state":"closed"}`)
	read("closed", venue.Closed, "", true, false, 6151)
	if quoted, err = a.Quote(t.Context(), []string{id}); err != nil || len(quoted) != 0 {
		t.Errorf("quote of a closed market: %+v %v", quoted, err)
	}
	sim.post("markets/"+id, `{"state":"resolved","outcome":"INVALID"}`)
	m = read("resolved", venue.Resolved, "INVALID", false, false, 5000)
	if *m.Payout != "0.5" || m.Liquidity != nil || m.ClosedAt == nil {
		t.Errorf("%+v", m)
	}
	if _, err := a.Get(t.Context(), "1999999999"); !errors.Is(err, venue.ErrNotFound) {
		t.Errorf("unknown market: %v", err)
	}
}

func TestFaultsOfTheVenue(t *testing.T) {
	t.Parallel()
	sim := startSimulator(t)
	id := sim.post("markets", `{"question":"Will the invented canal be full?","yesPrice":0.25}`)["id"].(string)
	m, err := sim.adapter().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"refuse", "hang", "slow", "garbage", "429"} {
		sim.post("fault", `{"mode":"`+mode+`","seconds":60}`)
		a := sim.adapter()
		for range 4 { // garbage comes in three forms
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			start := time.Now()
			if _, err := a.Get(ctx, id); !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("%s: get: %v", mode, err)
			}
			if _, _, err := a.List(ctx, ""); !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("%s: list: %v", mode, err)
			}
			if _, err := a.History(ctx, m, venue.Day); !errors.Is(err, venue.ErrUnavailable) {
				t.Errorf("%s: history: %v", mode, err)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("%s: three reads with half a second took %v", mode, took)
			}
			cancel()
		}
		sim.post("fault", `{"mode":"none"}`)
		if _, err := sim.adapter().Get(t.Context(), id); err != nil {
			t.Errorf("after %s: %v", mode, err)
		}
	}
}
