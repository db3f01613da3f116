package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// called stores an open call on each of the given markets, in the form that the lists of markets read.
func (b *bundle) called(ids ...string) {
	b.t.Helper()
	b.exec(`INSERT INTO api.market_totals (market_id, yes) SELECT unnest($1::text[]), 1`, ids)
}

// priced creates open markets of the primary venue with a price dated at.
func (b *bundle) priced(at time.Time, ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		b.venueMarket(id, 4000)
	}
	b.exec(`UPDATE api.market_quotes SET at = $1 WHERE market_id = ANY ($2::text[])`, at, ids)
}

// stub creates unconfirmed markets, for which no venue has answered.
func (b *bundle) stub(ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		if _, err := b.InsertStub(b.t.Context(), protocol.MarketID(id), uuid.NewString(), b.clock.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bundle) checked(at time.Time, ids ...protocol.MarketID) {
	b.t.Helper()
	if err := b.MarkChecked(b.t.Context(), ids, at); err != nil {
		b.t.Fatal(err)
	}
}

func TestHotOrderAndPause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	b.priced(ago(50*time.Second), "10", "11", "16")
	b.priced(ago(55*time.Second), "12")
	b.priced(ago(20*time.Minute), "13", "14", "15")
	b.stub("1", "2", "3", "4")
	b.called("10", "11", "12", "13", "14", "15", "16", "1", "2", "3", "4")
	b.checked(ago(4*time.Minute), "13", "1")                                                   // requested without an answer, so they are paused
	b.checked(ago(6*time.Minute), "14", "2")                                                   // their pause is over
	b.checked(ago(2*time.Second), "11")                                                        // requested by a scan whose answer is not stored yet
	b.checked(ago(50*time.Second-time.Millisecond), "16")                                      // requested and answered almost at the same time
	b.exec(`UPDATE api.market_quotes SET at = $1 WHERE market_id = '15'`, ago(10*time.Second)) // recently priced
	for _, c := range []struct {
		limit, fresh int
		want         string
	}{
		{500, 25, "[14 12 10 11 16 3 4 2]"},
		{2, 25, "[14 12 3 4 2]"}, // a separate limit applies to markets without an answer
		{500, 1, "[14 12 10 11 16 3]"},
	} {
		ids, err := b.ListHot(t.Context(), protocol.Polymarket, noon, ago(45*time.Second), ago(5*time.Minute), c.limit, c.fresh)
		if err != nil || fmt.Sprint(ids) != c.want {
			t.Errorf("hot markets with limits %d and %d: %v, want %s (%v)", c.limit, c.fresh, ids, c.want, err)
		}
	}
}

// TestHotTakesTheNextOfEachLane checks that the next 24 markets of each programme lane by end date are hot, except markets
// that a programme cannot include.
func TestHotTakesTheNextOfEachLane(t *testing.T) {
	t.Parallel()
	b := setup(t)
	put := func(id, lane string, end time.Duration, change string) {
		t.Helper()
		b.priced(noon.Add(-time.Minute), id)
		b.exec(`UPDATE api.markets SET category = $2, end_date = $3 WHERE market_id = $1`, id, lane, noon.Add(end))
		b.exec(`UPDATE api.market_quotes SET volume_usd = 1000 WHERE market_id = $1`, id)
		if change != "" {
			b.exec(change, id)
		}
	}
	want := map[string]bool{}
	for lane, first := range map[string]int{"music": 1000, "sport": 2000} {
		for i := range 30 {
			id := fmt.Sprint(first + i)
			put(id, lane, time.Hour+time.Duration((i*7)%30)*time.Minute, "") // not in the order of ids
			if (i*7)%30 < 24 {
				want[id] = true
			}
		}
	}
	put("3000", "film", 10*time.Minute+time.Second, "")
	want["3000"] = true
	put("3001", "film", 10*time.Minute, "")
	put("3002", "film", time.Hour, `UPDATE api.market_quotes SET volume_usd = 999 WHERE market_id = $1`)
	put("3003", "film", time.Hour, `UPDATE api.market_quotes SET yes_bps = NULL WHERE market_id = $1`)
	put("3004", "film", time.Hour, `UPDATE api.markets SET provisional = true WHERE market_id = $1`)
	put("3005", "film", time.Hour, `UPDATE api.markets SET status = 'closed' WHERE market_id = $1`)
	put("3006", "film", time.Hour, `UPDATE api.markets SET provider = 'kalshi' WHERE market_id = $1`)
	put("3007", "other", time.Hour, "")
	put("3008", "", time.Hour, "")
	ids, err := b.ListHot(t.Context(), protocol.Polymarket, noon, noon.Add(-45*time.Second), noon.Add(-5*time.Minute), 500, 25)
	if err != nil || len(ids) != len(want) {
		t.Errorf("%d hot markets, want %d (%v)", len(ids), len(want), err)
	}
	for _, id := range ids {
		if !want[string(id)] {
			t.Errorf("market %s is hot", id)
		}
	}
}

func TestMissedOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	b.priced(ago(time.Hour), "1", "2", "3", "4")
	b.priced(ago(9*time.Minute), "5")
	b.priced(noon, "6") // updated by the sweep
	b.checked(ago(6*time.Minute), "1", "2")
	b.checked(ago(time.Minute), "3")
	ids, err := b.ListMissed(t.Context(), protocol.Polymarket, noon, ago(5*time.Minute), 3)
	if err != nil || fmt.Sprint(ids) != "[4 5 1]" {
		t.Errorf("missed markets %v (%v)", ids, err)
	}
}

// TestDueOrder checks that ListPendingDue returns markets with a final verdict first and markets without any answer last,
// because callers can create any number of the latter.
func TestDueOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	b.priced(ago(10*time.Minute), "10", "11")
	b.priced(ago(time.Second), "12")
	b.priced(ago(time.Minute), "13") // not due
	b.stub("1", "2")
	b.exec(`UPDATE api.markets SET status = 'closed', final_verdict = 'YES', final_at = $1 WHERE market_id = '12'`, ago(11*time.Minute))
	b.called("10", "11", "12", "13", "1", "2")
	b.checked(ago(6*time.Minute), "10")
	for _, want := range []string{"[12 11 10 1]", "[12 2]"} {
		list, err := b.ListPendingDue(t.Context(), []protocol.Provider{protocol.Polymarket}, noon, noon.Add(time.Hour),
			ago(30*time.Second), ago(5*time.Minute), ago(10*time.Minute), 4)
		ids := make([]string, len(list))
		for i := range list {
			ids[i] = string(list[i].ID)
		}
		if err != nil || fmt.Sprint(ids) != want {
			t.Errorf("due markets %v, want %s (%v)", ids, want, err)
		}
	}
}

// TestListAwaitingQuote files a call on one market of each provider. ListAwaitingQuote must return the market of the
// requested provider only, and no market after that market has a second quote.
func TestListAwaitingQuote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := map[protocol.Provider]protocol.MarketID{
		protocol.Polymarket: "7", protocol.Kalshi: "kalshi-KX-1", protocol.Limitless: "lmt-will-it-rain", protocol.Manifold: "manifold-abc",
	}
	for p, id := range ids {
		if id.Provider() != p {
			t.Fatalf("market %s has provider %s", id, id.Provider())
		}
		b.venueMarket(string(id), 4000)
		b.exec(`UPDATE api.markets SET provider = $2 WHERE market_id = $1`, id, string(p))
		b.exec(`INSERT INTO api.open_signals (signal_id, market_id, created_at) VALUES (gen_random_uuid(), $1, $2)`, id, noon)
	}
	list := func(p protocol.Provider) []protocol.MarketID {
		t.Helper()
		return must(b.ListAwaitingQuote(t.Context(), p, noon.Add(-time.Second), noon, 5*time.Second, 10))(t)
	}
	for p, id := range ids {
		if got := list(p); len(got) != 1 || got[0] != id {
			t.Errorf("%s: %v, want %s", p, got, id)
		}
		b.exec(`INSERT INTO api.quotes (market_id, at, yes_price_bps, no_price_bps, rule) VALUES ($1, $2, 4000, 6000, 'test')`, id, noon.Add(5*time.Second))
		if got := list(p); len(got) != 0 {
			t.Errorf("%s: %v listed despite its second quote", p, got)
		}
	}
}
