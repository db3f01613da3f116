package manifold

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
	"github.com/signalcast/signalcast/services/api/internal/venue/wire"
)

func seeds(f *testing.F, pattern string) (out [][]byte) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "samples", pattern))
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, raw)
	}
	return out
}

// FuzzMarket: whatever a record holds, what is made of it can be kept.
func FuzzMarket(f *testing.F) {
	for _, raw := range seeds(f, "market_*.json") {
		f.Add(raw)
	}
	f.Add([]byte(`{"id":"a","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":true,"resolution":"MKT","resolutionTime":1,"resolutionProbability":1e-30}`))
	f.Add([]byte(`{"id":"a","question":"q","outcomeType":"BINARY","mechanism":"cpmm-1","isResolved":false,"closeTime":1e999,"probability":-0}`))
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	a := &Adapter{meter: venue.NewMeter(prometheus.NewRegistry()), now: func() time.Time { return noon }, wait: Wait, kept: map[string]details{}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := decode(raw)
		if err != nil || !a.binary(&o) {
			return
		}
		d, known := a.details(&o)
		m := a.derive(&o, d, known, noon)
		id, err := syntax.ParseMarketID(m.ID)
		if contract, ok := key(m.ID); err != nil || !ok || id.NativeKey() != contract || contract != string(o.ID) {
			t.Fatalf("id %q of %q: %v", m.ID, o.ID, err)
		}
		if m.Quote = o.quote(&m, &venue.Answer{At: noon}); !venuetest.ValidQuote(m.Quote) {
			t.Fatalf("quote %+v", m.Quote)
		}
		if m.YesBps != nil && (*m.YesBps < 0 || *m.YesBps > 10_000) {
			t.Fatalf("%d bps", *m.YesBps)
		}
		final := m.Outcome == "YES" || m.Outcome == "NO" || m.Outcome == "INVALID"
		if final != (m.Status == venue.Resolved) || final != m.Settled || final && m.Provisional || !final && (m.Outcome != "" || m.Payout != nil) {
			t.Fatalf("%+v", m)
		}
		if m.Payout != nil {
			if p, ok := wire.ParsePrice(*m.Payout); !ok || p < 0 || p > wire.One || p.Bps() != *m.YesBps {
				t.Fatalf("payout %q", *m.Payout)
			}
		}
		if _, err := json.Marshal(m); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzHistory: whatever bets come, the line rises and stays within 0 and 1.
func FuzzHistory(f *testing.F) {
	for _, raw := range seeds(f, "bets_*.json") {
		f.Add(raw, int64(0), int64(1791633600000))
		f.Add(raw, int64(1791500000000), int64(1791632000456))
	}
	f.Fuzz(func(t *testing.T, raw []byte, from, to int64) {
		var bets []bet
		if json.Unmarshal(raw, &bets) != nil || from < 0 || to < from || to > 1e15 {
			return
		}
		last := from/1000 - 1
		for _, p := range points(bets, from, to) {
			if p.T <= last || p.T > to/1000 || !(p.P >= 0 && p.P <= 1) {
				t.Fatalf("%v after %d", p, last)
			}
			last = p.T
		}
	})
}
