package limitless

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
		f.Add(raw, "")
		f.Add(raw, "Invented group")
	}
	f.Add([]byte(`{"slug":"a","title":"t","status":"RESOLVED","prices":["1e5","-0"],"payoutNumerators":["00","00"]}`), "")
	f.Add([]byte(`{"slug":"a","title":"t","status":"FUNDED","prices":["999999","999999"],"expirationTimestamp":-1}`), "")
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	a := &Adapter{meter: venue.NewMeter(prometheus.NewRegistry()), now: func() time.Time { return noon }, parents: map[string]parent{}}
	f.Fuzz(func(t *testing.T, raw []byte, title string) {
		o, err := decode(raw)
		if err != nil {
			return
		}
		list := a.family(&o, &venue.Answer{At: noon}, noon)
		if !o.group() {
			list = append(list, a.derive(&o, parent{slug: "p", title: title}, noon))
		}
		for _, m := range list {
			id, err := syntax.ParseMarketID(m.ID)
			if slug, ok := key(m.ID); err != nil || !ok || id.NativeKey() != slug || slug != m.Slug {
				t.Fatalf("id %q of %q: %v", m.ID, m.Slug, err)
			}
			if !venuetest.ValidQuote(m.Quote) {
				t.Fatalf("quote %+v", m.Quote)
			}
			if m.YesBps != nil && (*m.YesBps < 0 || *m.YesBps > 10_000) {
				t.Fatalf("%d bps", *m.YesBps)
			}
			payout := map[string]string{"YES": "1", "NO": "0", "INVALID": "0.5"}[m.Outcome]
			if (payout != "") != (m.Status == venue.Resolved) || m.Settled != (payout != "") || m.Settled && m.Provisional ||
				m.Disputed && !m.Provisional || (m.Payout != nil) != m.Settled || m.Settled && *m.Payout != payout {
				t.Fatalf("%+v", m)
			}
			if _, err := json.Marshal(m); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzHistory: whatever prices come, the line rises and stays within 0 and 1.
func FuzzHistory(f *testing.F) {
	for _, raw := range seeds(f, "historical_price_*.json") {
		f.Add(raw, "Invented Guild winner: Bo Reed", true)
		f.Add(raw, "", false)
	}
	f.Fuzz(func(t *testing.T, raw []byte, question string, pool bool) {
		lines, err := readLines(raw)
		if err != nil {
			return
		}
		last := int64(-1)
		for _, p := range points(pick(lines, question), 0, 2_000_000_000, pool) {
			if p.T <= last || p.T > 2_000_000_000 || !(p.P >= 0 && p.P <= 1) {
				t.Fatalf("%v after %d", p, last)
			}
			last = p.T
		}
	})
}

// FuzzBook checks that no book gives a quote out of bounds.
func FuzzBook(f *testing.F) {
	f.Add(seeds(f, "orderbook.json")[0])
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b book
		if json.Unmarshal(raw, &b) != nil {
			return
		}
		bid, ask := b.best()
		if q := venue.NewQuote(ruleBook, bid, ask, time.Unix(1_790_000_000, 0)); !venuetest.ValidQuote(q) {
			t.Fatalf("quote %+v", q)
		}
	})
}
