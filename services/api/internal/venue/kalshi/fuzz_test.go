package kalshi

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

// FuzzMarket: whatever a record holds, what is made of it can be kept.
func FuzzMarket(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "market_*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var box struct{ Market json.RawMessage }
		if err := json.Unmarshal(raw, &box); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(box.Market), "Entertainment")
	}
	f.Add([]byte(`{"ticker":"KXA","status":"finalized","result":"scalar","settlement_value_dollars":1e-5}`), "")
	f.Add([]byte(`{"ticker":"KXA","status":"active","yes_bid_dollars":"999999","yes_ask_dollars":"1e5","last_price_dollars":-3}`), "x")
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	a := &Adapter{meter: venue.NewMeter(prometheus.NewRegistry()), now: func() time.Time { return noon }}
	f.Fuzz(func(t *testing.T, raw []byte, category string) {
		o, err := decode(raw)
		if err != nil {
			return
		}
		m := a.derive(&o, event{category: category}, noon)
		id, err := syntax.ParseMarketID(m.ID)
		if err != nil || id.Provider() != syntax.Kalshi || id.NativeKey() != string(o.Ticker) {
			t.Fatalf("id %q of %q: %v", m.ID, o.Ticker, err)
		}
		if m.Quote = o.quote(&m, &venue.Answer{At: noon}); !venuetest.ValidQuote(m.Quote) {
			t.Fatalf("quote %+v", m.Quote)
		}
		if m.YesBps != nil && (*m.YesBps < 0 || *m.YesBps > 10_000) {
			t.Fatalf("%d bps", *m.YesBps)
		}
		final := m.Outcome == "YES" || m.Outcome == "NO" || m.Outcome == "INVALID"
		if final != (m.Status == venue.Resolved) || final != m.Settled || final && m.Provisional || m.Disputed && !m.Provisional ||
			!final && (m.Outcome != "" || m.Payout != nil) {
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

// FuzzHistory: whatever candles come, the line rises and stays within 0 and 1.
func FuzzHistory(f *testing.F) {
	for _, name := range []string{"live", "historical", "empty"} {
		raw, err := os.ReadFile(filepath.Join("testdata", "samples", "candlesticks_"+name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, int64(1790000000), int64(1791633600), int64(3600))
	}
	f.Fuzz(func(t *testing.T, raw []byte, from, to, period int64) {
		var box struct{ Candlesticks []candle }
		if json.Unmarshal(raw, &box) != nil || from < 0 || to < from || to > 1e12 || period < 1 || period > 86_400 {
			return
		}
		last := from - 1
		for _, p := range points(box.Candlesticks, from, to, period) {
			if p.T <= last || p.T > to || !(p.P >= 0 && p.P <= 1) {
				t.Fatalf("%v after %d", p, last)
			}
			last = p.T
		}
	})
}
