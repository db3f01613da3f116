package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func TestTakesAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("5", 5000)
	_, hash := b.operator("talker")
	id := b.file(hash, "5", protocol.No, 5000)
	for i, kind := range []string{"take", "note", "take"} {
		e := signal.Event{ID: fmt.Sprintf("018f0000-0000-7000-8000-%012d", i), Type: kind, Payload: `{"text":"x"}`, CreatedAt: b.clock.Now()}
		if _, err := b.AppendEvent(t.Context(), signal.Caller{KeyHash: hash}, id, e); err != nil {
			t.Fatal(err)
		}
	}
	if m := b.market("5"); m.Takes != 2 || m.NoCount != 1 || m.YesCount != 0 || m.CrowdNo != 1 {
		t.Errorf("takes are not counted: %+v", m)
	}
}

func TestAirable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ends := func(d time.Duration) func(*market.Record) {
		return func(r *market.Record) { e := b.clock.Now().Add(d); r.EndDate = &e }
	}
	b.apply(false, b.answer("1", 3000, ends(time.Hour)), b.answer("2", 3000, ends(30*time.Minute)),
		b.answer("3", 3000, ends(10*time.Minute)), b.answer("4", 3000, ends(time.Hour), closed(false)),
		b.answer("5", 3000, func(r *market.Record) { r.Yes = nil }), b.answer("6", 3000, func(r *market.Record) { r.EndDate = nil }),
		b.answer("7", 3000, ends(2*time.Hour), func(r *market.Record) { r.Lane = protocol.LaneSport }), b.answer("8", 3000))
	b.exec(`UPDATE api.markets SET disputed = true WHERE market_id = '8'`)
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	list := func(lane protocol.Lane, limit int) (ids []string) {
		t.Helper()
		rows := must(b.ListAirable(t.Context(), b.clock.Now(), lane, limit))(t)
		for _, m := range rows {
			m = m.Read(b.clock.Now(), true)
			if !m.Airable(b.clock.Now()) {
				t.Errorf("%s is listed but not airable", m.ID)
			}
			ids = append(ids, string(m.ID))
		}
		return ids
	}
	same := func(got []string, want ...string) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("airable %v, want %v", got, want)
		}
	}
	same(list("", 0), "2", "1", "7", "native-aaaaaaaaaaaa")
	same(list("", 2), "2", "1")
	same(list(protocol.LaneSport, 0), "7")
	b.clock.Advance(10*time.Minute + time.Second)
	same(list("", 0), "native-aaaaaaaaaaaa") // prices of venues have expired
}

// TestTrends checks the prices of several markets at equal distances, and that there is none before the first snapshot.
func TestTrends(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`INSERT INTO api.market_prices VALUES ('1', $1::timestamptz - interval '100 hours', 10), ('1', $1::timestamptz - interval '7 hours', 20),
		('1', $1, 30), ('1', $1::timestamptz + interval '1 second', 40), ('2', $1::timestamptz - interval '1 second', 50)`, noon)
	got, err := b.ListTrends(t.Context(), []string{"2", "1", "none"}, noon, 6*time.Hour, 4)
	if want := "[{1 [10 10 20 30]} {2 [50]}]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, want %s (%v)", got, want, err)
	}
}

func TestPriceHistoryIsThinned(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`INSERT INTO api.market_prices SELECT '1', $1::timestamptz + i * interval '1 minute', i % 10001 FROM generate_series(0, 2999) i`, noon)
	for _, c := range []struct {
		from        time.Time
		limit, want int
	}{{time.Time{}, 500, 500}, {noon.Add(2900 * time.Minute), 500, 100}, {time.Time{}, 3000, 3000}, {noon.Add(4000 * time.Minute), 500, 0}} {
		list, err := b.ListPrices(t.Context(), "1", c.from, c.limit)
		if err != nil || len(list) != c.want {
			t.Fatalf("%d points, want %d (%v)", len(list), c.want, err)
		}
		for i := 1; i < len(list); i++ {
			if !list[i].At.After(list[i-1].At) {
				t.Fatalf("point %d is not after the previous one", i)
			}
		}
		if c.want > 0 && list[len(list)-1].Yes != 2999 {
			t.Errorf("the newest point is %d, want 2999", list[len(list)-1].Yes)
		}
	}
	b.exec(`INSERT INTO api.market_prices VALUES ('2', $1, 1)`, noon)
	if list, err := b.ListPrices(t.Context(), "2", time.Time{}, 500); err != nil || len(list) != 1 {
		t.Errorf("history with one point: %v, %v", list, err)
	}
	n, err := b.ThinPrices(t.Context(), noon.Add(60*time.Minute), 1000)
	if err != nil || n != 56 {
		t.Errorf("thinned %d snapshots of an hour, want 56 (%v)", n, err)
	}
	if got := b.count(`SELECT min(yes_bps) FROM api.market_prices WHERE market_id = '1'`); got != 14 {
		t.Errorf("the first 15 minutes have the snapshot %d, want the last one, 14", got)
	}
}

func TestCutoffClosesNativeMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	b.venueMarket("1", 4000)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{23 * time.Hour, 0}, {time.Hour, 1}, {time.Hour, 0}} {
		b.clock.Advance(c.after)
		if n, err := b.CloseNative(t.Context(), b.clock.Now()); err != nil || n != c.want {
			t.Errorf("closed %d markets, want %d (%v)", n, c.want, err)
		}
	}
	if m := b.market("native-aaaaaaaaaaaa"); m.Status != protocol.MarketClosed || !m.ClosedAt.Equal(*m.EndDate) {
		t.Errorf("closed market: %+v", m)
	}
	if n := b.count(`SELECT count(*) FROM api.outbox WHERE type = 'market.status' AND data = '{"from": "open", "to": "closed"}'`); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

func TestListNative(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"native-opennnnnnn", "native-dueeeeeeee", "native-shuttttttt", "native-settledddd"} {
		b.nativeMarket(id, 5000)
	}
	b.exec(`UPDATE api.markets SET end_date = $1 WHERE market_id IN ('native-dueeeeeeee', 'native-shuttttttt')`, noon)
	b.exec(`UPDATE api.markets SET status = 'closed' WHERE market_id = 'native-shuttttttt'`)
	b.exec(`UPDATE api.markets SET status = 'resolved', resolution_value = 'NO', end_date = $1 WHERE market_id = 'native-settledddd'`, noon)
	b.exec(`INSERT INTO api.resolution_proposals VALUES ('native-shuttttttt', 'NO', 'https://proof.example', NULL, gen_random_uuid(), $1),
		('native-dueeeeeeee', 'YES', NULL, NULL, gen_random_uuid(), $2)`, noon, noon.Add(-8*24*time.Hour))
	for _, c := range []struct {
		status market.NativeStatus
		due    bool
		want   int
	}{{market.NativeOpen, false, 3}, {market.NativeOpen, true, 2}, {market.NativeClosed, false, 2}, {market.NativeResolved, false, 1}, {market.NativeAll, false, 4}, {market.NativeAll, true, 2}} {
		list, err := b.ListNative(t.Context(), c.status, c.due, 100, noon)
		if err != nil || len(list) != c.want {
			t.Errorf("%s due=%v: %d markets, want %d (%v)", c.status, c.due, len(list), c.want, err)
		}
		for _, n := range list {
			if proposed := n.Market.ID == "native-shuttttttt"; (n.Proposal != nil) != proposed {
				t.Errorf("%s has proposal %+v", n.Market.ID, n.Proposal)
			}
		}
	}
}
