package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// pulseCall is a call with its operator and its result.
type pulseCall struct {
	handle, tier, market, status string
	at                           time.Time
	clv                          *int
}

func (b *bundle) filingsOfAll() []pulseCall {
	b.t.Helper()
	rows, err := b.admin.Query(b.t.Context(), `SELECT u.handle, u.tier, s.market_id, coalesce(r.status, 'pending'), s.created_at,
		CASE WHEN r.counted AND s.market_id NOT LIKE 'native-%' THEN r.clv_bps END
		FROM api.signals s JOIN api.users u ON u.id = s.user_id LEFT JOIN api.signal_results r ON r.signal_id = s.id`)
	if err != nil {
		b.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (pulseCall, error) {
		var f pulseCall
		err := row.Scan(&f.handle, &f.tier, &f.market, &f.status, &f.at, &f.clv)
		return f, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// plainTotals computes the totals of the pulse in Go from a list of all calls.
func plainTotals(list []pulseCall, now time.Time, registered int) (t board.Totals) {
	const day = 24 * time.Hour
	people, houses, active, markets := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range list {
		t.Signals++
		markets[f.market] = true
		switch f.tier {
		case "independent":
			t.Independent++
			people[f.handle] = true
			age := now.Sub(f.at)
			if age <= 28*day {
				active[f.handle] = true
			}
			if age > 0 && age <= 7*day {
				t.Last7++
			} else if age > 7*day && age <= 14*day {
				t.Prev7++
			}
		case "house":
			t.House++
			houses[f.handle] = true
		case "automated":
			t.Automated++
		}
		switch f.status {
		case "won":
			t.Won++
		case "lost":
			t.Lost++
		case "pending":
			t.Open++
		}
		if f.clv != nil {
			t.CLVCount++
			if *f.clv > 0 {
				t.BeatLine++
			}
		}
	}
	t.IndependentOperators, t.HouseOperators = int64(len(people)), int64(len(houses))
	t.IndependentActive28, t.Markets, t.Registered = int64(len(active)), int64(len(markets)), int64(registered)
	return t
}

// comparePulse compares the pulse with totals and weeks that are computed in Go from all calls.
func (l *ledger) comparePulse(when string) {
	l.t.Helper()
	l.clock.Advance(time.Millisecond) // after the last call
	svc := board.NewService(l.Store, l.clock.Now)
	now, list := l.clock.Now(), l.filingsOfAll()
	want := plainTotals(list, now, l.count(`SELECT count(*) FROM api.users`))
	if got := must(svc.Pulse(l.t.Context()))(l.t); got != want {
		l.t.Fatalf("%s: pulse\n got %+v\nwant %+v", when, got, want)
	}
	counted := int64(l.count(`SELECT coalesce(sum(calls), 0)::integer FROM api.operator_tallies`))
	last := protocol.Bps(-1)
	for _, p := range must(svc.PulsePrices(l.t.Context()))(l.t) {
		if p.Price/1000 <= last/1000 && last >= 0 || p.Wins > p.Calls || p.Calls == 0 {
			l.t.Fatalf("%s: range of prices %+v after %d bps", when, p, last)
		}
		counted, last = counted-p.Calls, p.Price
	}
	if counted != 0 {
		l.t.Fatalf("%s: the ranges of prices lack %d counted calls", when, counted)
	}
	series := must(svc.PulseSeries(l.t.Context()))(l.t)
	newest := ""
	weeks := map[string]*board.Week{}
	active := map[string]map[string]bool{}
	for _, f := range list {
		year, week := f.at.UTC().ISOWeek()
		key := fmt.Sprintf("%d-%02d", year, week)
		if weeks[key] == nil {
			weeks[key], active[key] = &board.Week{}, map[string]bool{}
		}
		switch w := weeks[key]; f.tier {
		case "independent":
			w.Independent++
			active[key][f.handle] = true
			newest = max(newest, key)
		case "house":
			w.House++
		case "automated":
			w.Automated++
		}
	}
	key := func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprintf("%d-%02d", year, week) }
	for i, got := range series.Weeks {
		want := board.Week{Start: got.Start}
		if k := key(got.Start); weeks[k] != nil {
			want = *weeks[k]
			want.Start, want.ActiveIndependent = got.Start, int64(len(active[k]))
		}
		if got != want || got.Start.Weekday() != time.Monday || i == board.Weeks-1 && key(got.Start) != key(now.UTC()) {
			l.t.Fatalf("%s: week %d\n got %+v\nwant %+v", when, i, got, want)
		}
	}
	if series.LastIndependent == nil && newest != "" || series.LastIndependent != nil && key(*series.LastIndependent) != newest {
		l.t.Fatalf("%s: last independent week %v, want %s", when, series.LastIndependent, newest)
	}
	if n := l.count(`SELECT count(*) FROM api.market_resolutions WHERE resolved_at >= $1`, l.month()); series.Resolutions28 != int64(n) {
		l.t.Fatalf("%s: %d claims, want %d", when, series.Resolutions28, n)
	}
}

// TestPulseOfALedger compares the pulse with a computation in Go from all calls, over many weeks of random acts.
func TestPulseOfALedger(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 41, 9)
	s := l.service()
	l.comparePulse("empty")
	for i := range 300 {
		l.step(s)
		if i%30 == 29 {
			l.comparePulse(fmt.Sprint("step ", i))
		}
	}
}
