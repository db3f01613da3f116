package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// recorder receives the parts of an exported record and stores them for comparison.
type recorder struct {
	head  export.Head
	calls []export.Call
	pages int
	page  func()
}

func (k *recorder) owner(h export.Head) error { k.head = h; return nil }

func (k *recorder) take(calls []export.Call) error {
	k.calls, k.pages = append(k.calls, calls...), k.pages+1
	if k.page != nil {
		k.page()
	}
	return nil
}

// TestRecordIsComplete checks that an exported record contains every call of an operator once, oldest first, with its events
// and result. Calls that are filed during the export are not in the record.
func TestRecordIsComplete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, mara := b.operator("mara")
	_, other := b.operator("other")
	const calls = 450 // three pages
	for i := range calls {
		market := fmt.Sprintf("%d", 1000+i)
		b.venueMarket(market, 4000)
		if i%7 == 0 { // several calls have the same time
			b.clock.Advance(time.Second)
		}
		b.exec(`UPDATE api.market_prices SET at = at - interval '1 minute' WHERE market_id = $1`, market)
		b.file(mara, market, protocol.Yes, 4100)
	}
	b.file(other, "1000", protocol.No, 5900)
	b.nativeMarket("native-gauge", 2000)
	b.clock.Advance(time.Hour)
	last := b.file(mara, "native-gauge", protocol.Yes, 2000)
	if _, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: mara}, last, signal.Event{
		ID: "0199f0a4-0000-7000-8000-000000000001", Type: "note", Payload: `{"text":"=1+1"}`, CreatedAt: b.clock.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	service := export.NewService(b.Store, b.clock.Now)
	k := &recorder{}
	k.page = func() { // calls filed during the export are not in the record
		if k.pages == 1 {
			b.clock.Advance(time.Second)
			b.venueMarket("99999", 4000)
			b.file(mara, "99999", protocol.Yes, 4000)
		}
	}
	if _, err := resolution.NewService(b.Store, b.clock.Now).Finalize(t.Context(), resolution.Claim{MarketID: "native-gauge", Verdict: "YES", Source: "the gauge"}); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Second)
	if _, err := service.Record(t.Context(), "MARA", k.owner, k.take); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range k.calls {
		c := &k.calls[i]
		if seen[c.ID] || c.Handle != "mara" || c.ProviderID != "" || !c.PriceVerified ||
			i > 0 && c.CreatedAt.Before(k.calls[i-1].CreatedAt) {
			t.Fatalf("call %d: %+v", i, c)
		}
		seen[c.ID] = true
	}
	if len(k.calls) != calls+1 || k.pages != 3 || k.head.Handle != "mara" || !seen[last] {
		t.Errorf("%d calls in %d pages of %+v", len(k.calls), k.pages, k.head)
	}
	c := k.calls[calls]
	if c.ID != last || len(c.Events) != 2 || c.Events[0].Type != "note" || c.Events[1].Type != "resolved" || c.Events[1].Actor == nil ||
		c.Resolution == nil || c.Resolution.Source != "the gauge" || c.Status != protocol.Won || *c.Score != 80 || c.Version != "1.1" || c.Vertical != "SCIENCE" {
		t.Errorf("last call of the record: %+v %+v", c, c.Resolution)
	}
	if _, err := service.Record(t.Context(), "unknown", k.owner, k.take); !errors.Is(err, export.ErrUnknown) {
		t.Errorf("unknown operator: %v", err)
	}
	left, cancel := context.WithCancel(t.Context())
	k.page = cancel
	if _, err := service.Record(left, "mara", k.owner, k.take); err == nil {
		t.Error("the export continued for a canceled reader")
	}
}
