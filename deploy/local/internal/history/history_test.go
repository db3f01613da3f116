package history

import (
	"testing"
	"time"
)

func settings(seed uint64) Settings {
	end := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	return Settings{Seed: seed, Start: end.AddDate(0, 0, -90), End: end, Markets: 400, Operators: 60, Issuer: "https://idp.example"}
}

// TestHistoryIsOrdered checks the order of the steps. Every call must be the first one of its operator on an open market, at
// the ask price.
func TestHistoryIsOrdered(t *testing.T) {
	s := settings(1)
	quotes, resolved, calls := map[string]*Market{}, map[string]bool{}, map[[2]string]bool{}
	var last time.Time
	for i, step := range Generate(s) {
		if step.At.Before(last) || step.At.Before(s.Start) || step.At.After(s.End) {
			t.Fatalf("step %d is at %v; want it after %v and from %v to %v", i, step.At, last, s.Start, s.End)
		}
		last = step.At
		if step.Market != nil {
			quotes[step.Market.ID] = step.Market
		}
		if step.Resolve != nil {
			resolved[step.Resolve.MarketID] = true
		}
		for _, c := range step.Calls {
			m := quotes[c.MarketID]
			price := m.YesBps
			if c.Direction == "NO" {
				price = fullBps - price
			}
			if want := price + m.SpreadBps/2; c.PriceBps != want || resolved[c.MarketID] {
				t.Fatalf("step %d: %+v; want price %d on an open market", i, c, want)
			}
			key := [2]string{c.Operator, c.MarketID}
			if calls[key] {
				t.Fatalf("step %d: %s called %s twice", i, c.Operator, c.MarketID)
			}
			calls[key] = true
		}
	}
	if len(resolved) != s.Markets || len(calls) < 4*s.Markets {
		t.Errorf("%d of %d markets are resolved with %d calls; want all, and four calls for each", len(resolved), s.Markets, len(calls))
	}
}

// TestPricesAreCalibrated checks that first prices equal outcomes on average. Otherwise operators without skill would gain or
// lose points.
func TestPricesAreCalibrated(t *testing.T) {
	var sum, n float64
	for seed := range uint64(10) {
		first := map[string]int{}
		for _, step := range Generate(settings(seed)) {
			if m := step.Market; m != nil {
				if _, ok := first[m.ID]; !ok {
					first[m.ID] = m.YesBps
				}
			}
			if o := step.Resolve; o != nil && o.Verdict != "INVALID" {
				n++
				if o.Verdict == "YES" {
					sum++
				}
				sum -= float64(first[o.MarketID]) / fullBps
			}
		}
	}
	// The standard error of 4,000 outcomes is at most 0.008.
	if mean := sum / n; mean > 0.025 || mean < -0.025 {
		t.Errorf("outcomes differ from first prices by %.3f on average; want 0 within 0.025", mean)
	}
}
