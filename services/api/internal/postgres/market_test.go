package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// answer returns an answer of a venue about an open market, dated with the test clock and changed by change.
func (b *bundle) answer(id string, yes int, change ...func(*market.Record)) market.Record {
	end := noon.Add(48 * time.Hour)
	price, volume := protocol.Bps(yes), 5000.0
	r := market.Record{
		ID: protocol.MarketID(id), Title: "Will it hold?", EndDate: &end, Status: protocol.MarketOpen, Lane: protocol.LaneScience,
		Category: "science", Outcomes: []string{"Yes", "No"}, VolumeUnit: "usd", Yes: &price, Volume: &volume, VolumeUSD: &volume,
		URL: "https://venue.example/event/hold", FetchedAt: b.clock.Now(),
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

func closed(provisional bool) func(*market.Record) {
	return func(r *market.Record) { r.Status, r.Provisional = protocol.MarketClosed, provisional }
}

func final(v protocol.Verdict) func(*market.Record) {
	return func(r *market.Record) {
		closed(true)(r)
		r.Verdict = &v
	}
}

func (b *bundle) apply(every bool, records ...market.Record) int {
	b.t.Helper()
	return must(b.ApplyRecords(b.t.Context(), records, every, b.clock.Now()))(b.t)
}

func (b *bundle) market(id string) market.Market {
	b.t.Helper()
	m, found, err := b.FindMarket(b.t.Context(), protocol.MarketID(id))
	if err != nil || !found {
		b.t.Fatalf("market %s: found %v, %v", id, found, err)
	}
	return m
}

func TestOlderAnswerIsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	slow := b.answer("1", 9000, func(r *market.Record) { r.Title = "slow" })
	b.clock.Advance(time.Second)
	// The newest answer changes the price only, so the market row has an older time. The check must therefore not use
	// the time of the market row.
	b.apply(false, b.answer("1", 3000))
	b.clock.Advance(time.Second)
	between := b.answer("1", 8000, func(r *market.Record) { r.Title = "between" })
	b.clock.Advance(time.Second)
	b.apply(false, b.answer("1", 3100))
	for _, old := range []market.Record{slow, between, b.answer("1", 7000, func(r *market.Record) { r.Title = "same moment" })} {
		if n := b.apply(false, old); n != 0 {
			t.Errorf("the answer %q was stored although it is not newer", old.Title)
		}
	}
	if m := b.market("1"); m.Title != "Will it hold?" || *m.Yes != 3100 {
		t.Errorf("stored %q at %d", m.Title, *m.Yes)
	}
}

func TestOnlyChangesWriteTheMarketRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(false, b.answer("1", 3000))
	before := b.count(`SELECT xmin::text::bigint FROM api.markets WHERE market_id = '1'`)
	b.clock.Advance(time.Minute)
	b.apply(false, b.answer("1", 4000, func(r *market.Record) { v := 9999.0; r.Volume = &v }))
	if b.count(`SELECT xmin::text::bigint FROM api.markets WHERE market_id = '1'`) != before {
		t.Error("a price update wrote the row that filings lock")
	}
	if m := b.market("1"); *m.Yes != 4000 || *m.Volume != 9999 {
		t.Errorf("price %d, volume %v", *m.Yes, *m.Volume)
	}
	b.clock.Advance(time.Minute)
	b.apply(false, b.answer("1", 4000, func(r *market.Record) { r.Title = "Will it really hold?" }))
	if b.count(`SELECT xmin::text::bigint FROM api.markets WHERE market_id = '1'`) == before {
		t.Error("a new title was not stored")
	}
	if n := b.count(`SELECT count(*) FROM api.outbox`); n != 0 {
		t.Errorf("%d events without a change of status", n)
	}
}

func TestStatusChangesArePublishedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	step := func(want string, change ...func(*market.Record)) {
		t.Helper()
		b.clock.Advance(time.Minute)
		b.apply(false, b.answer("1", 3000, change...), b.answer("2", 100))
		var got string
		err := b.admin.QueryRow(t.Context(), `SELECT coalesce(string_agg((data->>'from') || '>' || (data->>'to'), ' ' ORDER BY id), '')
			FROM api.outbox WHERE type = 'market.status' AND market_id = '1'`).Scan(&got)
		if err != nil || got != want {
			t.Errorf("events %q, want %q (%v)", got, want, err)
		}
	}
	step("")
	step("open>closed", closed(false))
	step("open>closed", closed(true))
	step("open>closed closed>open")
	step("open>closed closed>open open>unknown", func(r *market.Record) { r.Status = protocol.MarketUnknown })
	if n := b.count(`SELECT count(*) FROM api.outbox WHERE market_id <> '1'`); n != 0 {
		t.Errorf("%d events of a market without changes", n)
	}
}

// TestTimesOfStatusAndVerdict checks the stored times of the close, the proposed result and the final verdict when a venue
// reopens a market, amends a result or withdraws it.
func TestTimesOfStatusAndVerdict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	check := func(what string, closedAt, provisionalAt, finalAt *time.Time, verdict protocol.Verdict) {
		t.Helper()
		m := b.market("1")
		for _, p := range []struct {
			name      string
			got, want *time.Time
		}{{"closed", m.ClosedAt, closedAt}, {"provisional", m.ProvisionalAt, provisionalAt}, {"final", m.FinalAt, finalAt}} {
			if (p.got == nil) != (p.want == nil) || p.got != nil && !p.got.Equal(*p.want) {
				t.Errorf("%s: time of %s is %v, want %v", what, p.name, p.got, p.want)
			}
		}
		if got := protocol.Verdict(""); m.FinalVerdict != nil && *m.FinalVerdict != verdict || m.FinalVerdict == nil && verdict != got {
			t.Errorf("%s: final verdict %v, want %q", what, m.FinalVerdict, verdict)
		}
	}
	say := func(minutes int, change ...func(*market.Record)) *time.Time {
		t.Helper()
		b.clock.Set(at(minutes))
		b.apply(false, b.answer("1", 3000, change...))
		when := at(minutes)
		return &when
	}
	say(0)
	check("open", nil, nil, nil, "")
	shut := say(1, closed(false))
	check("closed", shut, nil, nil, "")
	say(2)
	check("reopened", nil, nil, nil, "")
	again := say(3, closed(false))
	check("closed again", again, nil, nil, "")
	prov := say(4, closed(true))
	check("proposed", again, prov, nil, "")
	one := say(5, final(protocol.VerdictYes))
	check("final", again, prov, one, protocol.VerdictYes)
	say(6, final(protocol.VerdictYes))
	check("final, read again", again, prov, one, protocol.VerdictYes)
	two := say(7, final(protocol.VerdictNo))
	check("amended", again, prov, two, protocol.VerdictNo)
	say(8, closed(true))
	check("undone", again, prov, nil, "")
	say(9, closed(false))
	check("not proposed", again, prov, nil, "") // the market was not open in between
	three := say(10, final(protocol.VerdictNo))
	check("final at last", again, prov, three, protocol.VerdictNo)
	say(11)
	check("open again", nil, nil, nil, "")
}

func TestClaimedMarketDoesNotChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(false, b.answer("1", 3000))
	b.claim("1", protocol.VerdictYes)
	b.clock.Advance(time.Minute)
	if n := b.apply(true, b.answer("1", 9900, func(r *market.Record) { r.Title = "changed" })); n != 0 {
		t.Error("an answer about a resolved market was stored")
	}
	m := b.market("1")
	if m.Status != protocol.MarketResolved || m.Verdict == nil || *m.Verdict != protocol.VerdictYes || m.Title != "Will it hold?" || *m.Yes != 3000 {
		t.Errorf("the resolved market changed to %+v", m)
	}
}

func TestVenueCannotChangeNativeMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	b.clock.Advance(time.Minute)
	if n := b.apply(true, b.answer("native-aaaaaaaaaaaa", 1)); n != 0 {
		t.Error("an answer of a venue changed a native market")
	}
}

func TestSnapshots(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, hash := b.operator("watcher")
	b.apply(false, b.answer("1", 3000), b.answer("2", 3000), b.answer("3", 3000))
	b.file(hash, "2", protocol.Yes, 3000)
	for range 3 {
		b.clock.Advance(time.Minute)
		b.apply(false, b.answer("1", 3000), b.answer("2", 3000))
		b.apply(true, b.answer("3", 3000))
	}
	for id, want := range map[string]int{"1": 1, "2": 4, "3": 4} {
		if got := b.count(`SELECT count(*) FROM api.market_prices WHERE market_id = $1`, id); got != want {
			t.Errorf("market %s: %d snapshots, want %d", id, got, want)
		}
	}
	b.clock.Advance(12 * time.Minute)
	b.apply(false, b.answer("1", 3500))
	if got := b.count(`SELECT count(*) FROM api.market_prices WHERE market_id = '1'`); got != 2 {
		t.Errorf("a market without calls has %d snapshots after 15 minutes, want 2", got)
	}
	// The price after a result must not become the closing line.
	b.clock.Advance(time.Minute)
	b.apply(true, b.answer("3", 10000, final(protocol.VerdictYes)))
	r, err := b.Claim(t.Context(), resolution.Claim{MarketID: "3", Verdict: protocol.VerdictYes, Resolver: "oracle", Source: "polymarket"}, b.clock.Now)
	if err != nil || r.Outcome.Verdict == nil {
		t.Fatal(err)
	}
	if m := b.market("3"); m.ClosePrice == nil || *m.ClosePrice != 3000 {
		t.Errorf("closing line %v, want 3000", m.ClosePrice)
	}
}

func TestStub(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 2 {
		b.stub("41")
	}
	_, hash := b.operator("early")
	d := newDraft("41", protocol.Yes, 6000)
	d.Venue = signal.VenueRequested
	if got := b.try(signal.Caller{KeyHash: hash}, d); got.Verdict != signal.VerdictFiled {
		t.Fatal(got)
	}
	if m := b.market("41"); m.Status != protocol.MarketUnknown || m.FetchedAt != nil || m.Title != "41" || m.YesCount != 0 {
		t.Errorf("stub: %+v", m)
	}
	b.clock.Advance(time.Minute)
	b.apply(false, b.answer("41", 2000, func(r *market.Record) { r.Title, r.Status = "a title", protocol.MarketUnknown }))
	if got := b.try(signal.Caller{KeyHash: hash}, newDraft("41", protocol.Yes, 1)); got.Verdict != signal.VerdictDuplicate {
		t.Errorf("second call: %s", got.Verdict)
	}
	_, other := b.operator("second")
	if got := b.try(signal.Caller{KeyHash: other}, newDraft("41", protocol.Yes, 1)); got.Verdict != signal.VerdictProvisional {
		t.Errorf("a market of unknown status accepts calls: %s", got.Verdict)
	}
}

// TestAnswersAmongFilingsAndClaims checks that concurrent writes of answers, calls and claims on the same markets do not
// deadlock.
func TestAnswersAmongFilingsAndClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const markets = 20
	ids := make([]string, markets)
	for i := range ids {
		ids[i] = fmt.Sprint(9000 + i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			records := make([]market.Record, 0, markets)
			for i := range ids {
				id := ids[(i*7+n)%markets] // in any order; the store sorts by id
				records = append(records, b.answer(id, 100+n, func(r *market.Record) {
					r.FetchedAt = noon.Add(time.Duration(n) * time.Second)
					r.Title = fmt.Sprintf("title %d", n)
					if n%3 == 0 {
						closed(false)(r)
					}
				}))
			}
			if _, err := b.ApplyRecords(ctx, records, true, b.clock.Now()); err != nil {
				t.Errorf("answers %d: %v", n, err)
			}
		})
		wg.Go(func() {
			err := pgx.BeginFunc(ctx, b.rw, func(tx pgx.Tx) error {
				rows, err := tx.Query(ctx, `SELECT market_id FROM markets WHERE market_id = ANY ($1) ORDER BY market_id FOR SHARE`, ids)
				if err != nil {
					return err
				}
				_, err = pgx.CollectRows(rows, pgx.RowTo[string])
				return err
			})
			if err != nil {
				t.Errorf("filing %d: %v", n, err)
			}
		})
		wg.Go(func() {
			err := pgx.BeginFunc(ctx, b.rw, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, `SELECT FROM markets WHERE market_id = $1 FOR UPDATE`, ids[n%markets])
				return err
			})
			if err != nil {
				t.Errorf("claim %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if m := b.market(id); m.Title != "title 49" || *m.Yes != 149 || m.Status != protocol.MarketOpen {
			t.Errorf("market %s has title %q, price %d and status %s, which is not the newest answer", id, m.Title, *m.Yes, m.Status)
		}
	}
}
