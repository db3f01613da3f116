package polymarket

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// FuzzBook checks that an order book gives either both a quote and a price within their bounds, or neither. YES may be
// either token.
func FuzzBook(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata", "samples", "clob_book.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, 0)
	f.Add(raw, 1)
	f.Add([]byte(`{"asset_id":"1","timestamp":"9e99","bids":[{"price":"1e5","size":"1"}],"asks":[{"price":"-1","size":"1e-9"}]}`), 1)
	f.Fuzz(func(t *testing.T, raw []byte, yes int) {
		b := orderBook{answer: &venue.Answer{At: streamNoon.Add(-time.Second)}}
		if json.Unmarshal(raw, &b) != nil || b.Token == "" {
			return
		}
		m := market.Record{Status: protocol.MarketOpen, ClobTokenID: string(b.Token), YesIndex: yes & 1}
		b.price(&m, streamNoon)
		q := m.Quote
		if (q == nil) != (m.Yes == nil) {
			t.Fatalf("quote %+v, price %v", q, m.Yes)
		}
		if q != nil && (q.Yes < 1 || q.Yes > 9999 || q.No < 1 || q.No > 9999 || q.Yes+q.No < 10_000 || q.Yes+q.No > 11_001 ||
			q.At.After(streamNoon) || *m.Yes > q.Yes) {
			t.Fatalf("quote %+v, price %d", q, *m.Yes)
		}
	})
}
