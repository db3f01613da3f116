package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// tick applies one streamed price and returns the number of prices that were newer than the stored ones.
func (b *bundle) tick(id string, yes int, at time.Time) int {
	b.t.Helper()
	return must(b.ApplyTicks(b.t.Context(), []market.Tick{{ID: protocol.MarketID(id), Yes: protocol.Bps(yes), At: at}}))(b.t)
}

func TestStreamedPriceMustBeNewer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(true, b.answer("1", 3000), b.answer("2", 3000), b.answer("3", 3000))
	late := func(d time.Duration) time.Time { return noon.Add(d) }
	for i, c := range []struct {
		yes       int
		after     time.Duration
		newer     int
		shown     protocol.Bps
		snapshots int
	}{
		{3100, 0, 0, 3000, 1},                // same time as the stored price
		{3100, -time.Second, 0, 3000, 1},     // older than the stored price
		{3200, 5 * time.Second, 1, 3200, 1},  // newer; the last snapshot is recent
		{3300, 4 * time.Second, 0, 3200, 1},  // older than the last streamed price
		{3400, 16 * time.Second, 1, 3400, 2}, // newer, with a snapshot
		{3500, 16*time.Second + time.Millisecond, 1, 3500, 2},
	} {
		if n := b.tick("1", c.yes, late(c.after)); n != c.newer {
			t.Errorf("step %d: %d prices were newer", i, n)
		}
		if m := b.market("1"); *m.Yes != c.shown || b.count(`SELECT count(*) FROM api.market_prices WHERE market_id = '1'`) != c.snapshots {
			t.Errorf("step %d: price %d", i, *m.Yes)
		}
	}
	b.clock.Set(late(time.Second))
	b.apply(false, b.answer("2", 3000, closed(false)))
	b.exec(`UPDATE api.markets SET provisional = true WHERE market_id = '3'`)
	for _, id := range []string{"2", "3", "4", "native-aaaaaaaaaaaa"} {
		if n := b.tick(id, 9000, late(time.Minute)); n != 0 {
			t.Errorf("market %s accepted a streamed price", id)
		}
	}
}

// TestStreamedPriceDoesNotBlockAnswers checks an answer that was requested before the last streamed price. Everything except
// its price is stored. Whether the answer is newer is decided by comparison with the previous answer, not with the streamed
// price.
func TestStreamedPriceDoesNotBlockAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(true, b.answer("1", 3000))
	b.tick("1", 3500, noon.Add(10*time.Second))
	b.clock.Set(noon.Add(9 * time.Second))
	answer := b.answer("1", 3100, func(r *market.Record) { r.Title = "asked before" })
	b.clock.Set(noon.Add(8 * time.Second))
	older := b.answer("1", 3200, func(r *market.Record) { r.Title = "older" })
	if n := b.apply(false, answer); n != 1 {
		t.Error("an answer was ignored because of a streamed price")
	}
	if n := b.apply(false, older); n != 0 {
		t.Error("an older answer was stored")
	}
	if m := b.market("1"); m.Title != "asked before" || *m.Yes != 3500 || !m.PricedAt.Equal(noon.Add(10*time.Second)) {
		t.Errorf("market %q, price %d of %v", m.Title, *m.Yes, m.PricedAt)
	}
	b.clock.Set(noon.Add(9500 * time.Millisecond))
	if n := b.apply(false, b.answer("1", 3300)); n != 1 {
		t.Error("the next answer was ignored because of a streamed price")
	}
	b.clock.Set(noon.Add(11 * time.Second))
	b.apply(false, b.answer("1", 3300))
	if m := b.market("1"); *m.Yes != 3300 || !m.PricedAt.Equal(noon.Add(11*time.Second)) {
		t.Errorf("price %d of %v after a newer answer", *m.Yes, m.PricedAt)
	}
	b.tick("1", 3600, noon.Add(12*time.Second))
	if m := b.market("1"); *m.Yes != 3600 {
		t.Errorf("price %d after a newer streamed price", *m.Yes)
	}
}

// TestStreamedPriceIsNoAnswer checks that streamed prices do not remove a market from the lists of markets to be read,
// because only answers count there.
func TestStreamedPriceIsNoAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	b.priced(ago(20*time.Minute), "1")
	b.called("1")
	b.tick("1", 5000, noon)
	hot, err1 := b.ListHot(t.Context(), protocol.Polymarket, noon, ago(45*time.Second), ago(5*time.Minute), 500, 25)
	missed, err2 := b.ListMissed(t.Context(), protocol.Polymarket, ago(8*time.Minute), ago(13*time.Minute), 300)
	due, err3 := b.ListPendingDue(t.Context(), []protocol.Provider{protocol.Polymarket}, noon, noon.Add(time.Hour),
		ago(30*time.Second), ago(5*time.Minute), ago(10*time.Minute), 4)
	if err1 != nil || err2 != nil || err3 != nil || len(hot) != 1 || len(missed) != 1 || len(due) != 1 {
		t.Errorf("hot %v, missed %v, due %v (%v %v %v)", hot, missed, due, err1, err2, err3)
	}
}

// TestHotMarketsOfEveryUnit checks that the markets of the programme lanes are refreshed and streamed for venues whose volume is not
// in USD.
func TestHotMarketsOfEveryUnit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for provider, id := range map[protocol.Provider]string{protocol.Kalshi: "kalshi-A", protocol.Manifold: "manifold-a"} {
		b.priced(noon.Add(-time.Minute), id)
		unit := map[protocol.Provider]string{protocol.Kalshi: "contracts", protocol.Manifold: "mana"}[provider]
		b.exec(`UPDATE api.markets SET category = 'music', end_date = $2, volume_unit = $3, clob_token_id = '9', provider = $4
			WHERE market_id = $1`, id, noon.Add(time.Hour), unit, string(provider))
		b.exec(`UPDATE api.market_quotes SET volume = 100000, volume_usd = 1000 WHERE market_id = $1`, id)
		hot, err := b.ListHot(t.Context(), provider, noon, noon.Add(-45*time.Second), noon.Add(-5*time.Minute), 500, 25)
		if err != nil || len(hot) != 1 || string(hot[0]) != id {
			t.Errorf("%s: hot %v, want %s (%v)", provider, hot, id, err)
		}
		streamed, err := b.ListStreamed(t.Context(), provider, noon, nil, 10)
		if err != nil || len(streamed) != 1 || string(streamed[0].ID) != id {
			t.Errorf("%s: streamed %v, want %s (%v)", provider, streamed, id, err)
		}
	}
}

func TestStreamedOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.priced(noon, "1", "2", "3", "4", "5", "6", "7")
	b.exec(`UPDATE api.markets SET clob_token_id = '10' || market_id, yes_index = 1`)
	b.exec(`UPDATE api.markets SET category = 'music', end_date = $1 WHERE market_id IN ('1', '2')`, noon.Add(time.Hour))
	b.exec(`UPDATE api.market_quotes SET volume_usd = 1000`)
	b.exec(`UPDATE api.markets SET status = 'closed' WHERE market_id = '5'`)
	b.exec(`UPDATE api.markets SET clob_token_id = '' WHERE market_id = '6'`)
	b.called("2", "3", "5", "6")
	for limit, want := range map[int]string{
		10: "[{2 102 1} {3 103 1} {4 104 1} {1 101 1}]", 2: "[{2 102 1} {3 103 1}]",
	} {
		list, err := b.ListStreamed(t.Context(), protocol.Polymarket, noon, []protocol.MarketID{"4", "2", "404"}, limit)
		if err != nil || fmt.Sprint(list) != want {
			t.Errorf("limit %d: streamed %v, want %s (%v)", limit, list, want, err)
		}
	}
}

// TestQuotesOfOneTimeAreOne stores several answers with the same time and different prices, which is possible because venue
// clocks have whole seconds. The first answer remains the quote of that time, so the prices of each call agree with its
// stored quote.
func TestQuotesOfOneTimeAreOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at := b.clock.Now()
	asked := func(yes int) market.Record {
		b.clock.Advance(100 * time.Millisecond)
		return b.answer("7", yes, func(r *market.Record) {
			r.Quote = &market.Quote{Yes: protocol.Bps(yes + 100), No: protocol.Bps(10_100 - yes), At: at, Rule: "test", SHA256: []byte{1}}
		})
	}
	b.apply(true, asked(3000))
	for i, yes := range []int{5000, 8000} {
		_, hash := b.operator(fmt.Sprintf("second%d", i))
		d := newDraft("7", protocol.Yes, 0)
		b.requireVerdict(hash, d, signal.VerdictFiled)
		if got := b.pricesOf(d.ID); got.basis != 3100 {
			t.Errorf("call %d: %+v, want the scoring price 3100", i, got)
		}
		b.apply(true, asked(yes))
	}
	if _, err := b.ApplyTicks(t.Context(), []market.Tick{{ID: "7", Yes: 9000, At: at.Add(time.Second), Quote: &market.Quote{Yes: 9100, No: 1100, At: at, Rule: "stream"}}}); err != nil {
		t.Fatal(err)
	}
	_, hash := b.operator("third")
	d := newDraft("7", protocol.Yes, 0)
	b.requireVerdict(hash, d, signal.VerdictFiled)
	if got := b.pricesOf(d.ID); got.basis != 3100 {
		t.Errorf("after a frame: %+v, want the scoring price 3100", got)
	}
	if list := must(FsckCalls(t.Context(), b.rw, true))(t); len(list) != 0 {
		t.Errorf("fsck: %v", list)
	}
}
