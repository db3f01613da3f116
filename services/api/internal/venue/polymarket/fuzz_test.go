package polymarket

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// FuzzBook checks that no book gives a quote or a price out of bounds, whichever side YES is.
func FuzzBook(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata", "samples", "clob_book.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, 0)
	f.Add(raw, 1)
	f.Add([]byte(`{"asset_id":"1","timestamp":"9e99","bids":[{"price":"1e5","size":"1"}],"asks":[{"price":"-1","size":"1e-9"}]}`), 1)
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, raw []byte, yes int) {
		b := orderBook{answer: &venue.Answer{At: noon.Add(-time.Second)}}
		if json.Unmarshal(raw, &b) != nil || b.Token == "" {
			return
		}
		m := venue.Market{Status: venue.Open, ClobTokenID: string(b.Token), YesIndex: yes & 1}
		b.price(&m, noon)
		if !venuetest.ValidQuote(m.Quote) || (m.Quote == nil) != (m.YesBps == nil) || m.Quote != nil && (m.Quote.At.After(noon) || *m.YesBps > int(m.Quote.Yes)) {
			t.Fatalf("%+v, %v", m.Quote, m.YesBps)
		}
	})
}
