package postgres

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// TestToleranceIsStored checks that the first filing of a process stores its price tolerance, that the history of tolerances
// is append-only, and that the quote from which a scoring price follows is stored.
func TestToleranceIsStored(t *testing.T) {
	t.Parallel()
	b := setupRules(t, Rules{PriceToleranceBps: 1000, PastEndIsProvisional: true, ResolveChunk: 100, QuoteMaxAge: ageless})
	_, mara := b.operator("mara")
	b.venueMarket("1000", 4000)
	b.venueMarket("1001", 9000)
	b.clock.Advance(time.Minute)
	b.file(mara, "1000", protocol.Yes, 100) // scored at 3000
	b.quote("1001", 9100, 1100)             // a streamed price without a snapshot
	b.file(mara, "1001", protocol.Yes, 100) // scored at 8100
	b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) SELECT market_id, at + interval '1 second', 9700 FROM api.market_quotes WHERE market_id = '1001'`)
	if err := b.AddTolerance(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The next process has another setting, and a third process has the same.
	b.clock.Advance(time.Hour)
	for range 2 {
		next := New(b.rw, Rules{PriceToleranceBps: 200, ResolveChunk: 100, ReadBudget: 20 * time.Second}, b.clock.Now)
		t.Cleanup(next.Close)
		if err := next.AddTolerance(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list, err := b.PriceTolerances(t.Context())
	if err != nil || len(list) != 2 || !list[0].Since.Equal(time.Unix(0, 0)) || list[0].Bps != 1000 || !list[1].Since.Equal(b.clock.Now()) || list[1].Bps != 200 {
		t.Fatalf("price tolerances: %+v %v", list, err)
	}
	if _, err := b.admin.Exec(t.Context(), `UPDATE api.price_tolerances SET bps = 0`); err == nil {
		t.Error("the history can be changed")
	}
	k := &recorder{}
	if _, err := export.NewService(b.Store, b.clock.Now).Record(t.Context(), "mara", k.owner, k.take); err != nil {
		t.Fatal(err)
	}
	if len(k.calls) != 2 || len(k.head.Tolerances) != 2 || k.calls[0].ScoredBps != 3000 || k.calls[0].Quote.Yes != 4000 ||
		k.calls[1].ScoredBps != 8100 || k.calls[1].Quote.Yes != 9100 || k.calls[1].ScoreBasisBps != 8100 {
		t.Fatalf("%+v of %+v", k.calls, k.head)
	}
}

// TestRecordEndsAtItsTime checks that an exported record contains no event that is later than the time of the export.
func TestRecordEndsAtItsTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, mara := b.operator("mara")
	b.nativeMarket("native-gauge", 2000)
	b.clock.Advance(time.Hour)
	b.file(mara, "native-gauge", protocol.Yes, 2000)
	asOf := b.clock.Now()
	b.clock.Advance(time.Second)
	if _, err := resolution.NewService(b.Store, b.clock.Now).Finalize(t.Context(), resolution.Claim{MarketID: "native-gauge", Verdict: "YES", Source: "the gauge"}); err != nil {
		t.Fatal(err)
	}
	owner := must(b.RecordOwner(t.Context(), "mara"))(t)
	for at, status := range map[time.Time]protocol.SignalStatus{asOf: protocol.Pending, b.clock.Now(): protocol.Won} {
		calls, err := b.RecordPage(t.Context(), owner.ID, export.Place{}, at, 10)
		if err != nil || len(calls) != 1 {
			t.Fatalf("page of the record: error %v %d, calls", err, len(calls))
		}
		c, done := &calls[0], status == protocol.Won
		if c.Status != status || (c.Resolution != nil) != done || (c.Score != nil) != done || (c.ResolvedAt != nil) != done || (len(c.Events) == 1) != done {
			t.Errorf("at %v: %+v", at, c)
		}
	}
}
