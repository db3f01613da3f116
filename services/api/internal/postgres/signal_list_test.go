package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// allPages reads every page of a query and returns the ids of all calls and the number of pages.
func (b *bundle) allPages(q signal.CallQuery) (ids []string, pages int) {
	b.t.Helper()
	for {
		p, err := b.ListCalls(b.t.Context(), q)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(p.Signals) > q.Limit {
			b.t.Fatalf("%d calls in a page of %d", len(p.Signals), q.Limit)
		}
		for _, r := range p.Signals {
			ids = append(ids, r.ID)
		}
		pages++
		if p.Next == "" {
			return ids, pages
		}
		c, ok := protocol.DecodeCursor(p.Next, 1)
		if !ok {
			b.t.Fatalf("cursor %q", p.Next)
		}
		q.After = c
	}
}

// plain returns the ids of the calls that a query selects, read with one simple SQL statement.
func (b *bundle) plain(q signal.CallQuery) []string {
	b.t.Helper()
	rows, err := b.admin.Query(b.t.Context(), `SELECT id::text FROM api.signal_records
		WHERE ($1 = '' OR handle = $1) AND ($2 = '' OR market_id = $2) AND ($3 = '' OR lane = $3)
			AND ($4 OR status = ANY($5))
		ORDER BY created_at DESC, id DESC`, q.Handle, q.MarketID, q.Lane, len(q.Statuses) == 0, q.Statuses)
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			b.t.Fatal(err)
		}
		out = append(out, id)
	}
	return out
}

// TestListCalls compares every combination of filters with a simple SQL statement. Each call must be listed once and in
// order, for every page size, even if the filter matches few of thousands of calls.
func TestListCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for id, lane := range map[string]protocol.Lane{"1": "SPORT", "2": "CRYPTO", "3": "OTHER", "4": "CRYPTO"} {
		b.apply(false, b.answer(id, 3000, func(r *market.Record) { r.Lane = lane }))
	}
	b.seedSignals(t.Context(), "1", 4500) // all of the same time, so that the ids decide
	hashes := b.operators(6)
	for i, hash := range hashes {
		for _, id := range []string{"1", "2", "3", "4"} {
			b.clock.Advance(time.Duration(i%2) * time.Second)
			b.file(hash, id, []protocol.Side{protocol.Yes, protocol.No}[i%2], 4000+i)
		}
	}
	b.claim("2", protocol.VerdictYes)
	b.claim("3", protocol.VerdictInvalid)
	rare := b.text(`SELECT handle FROM api.users u JOIN api.signals s ON s.user_id = u.id AND s.market_id = '4' LIMIT 1`)
	for _, handle := range []string{"", rare, "seed7", "unknown"} {
		for _, id := range []string{"", "1", "2", "404"} {
			for _, lane := range []string{"", "CRYPTO", "SCIENCE"} {
				for _, statuses := range [][]protocol.SignalStatus{nil, {protocol.Pending}, {protocol.Won, protocol.Lost}, {protocol.Void}} {
					q := signal.CallQuery{Handle: handle, MarketID: id, Lane: lane, Statuses: statuses, Limit: 200}
					got, pages := b.allPages(q)
					want := b.plain(q)
					if !slices.Equal(got, want) {
						t.Errorf("%+v: %d calls in %d pages, want %d", q, len(got), pages, len(want))
					}
				}
			}
		}
	}
	if got, pages := b.allPages(signal.CallQuery{Handle: rare, Limit: 1}); len(got) != 4 || pages != 5 {
		t.Errorf("pages of one call: %d calls in %d pages", len(got), pages)
	}
	// A page searches a limited number of calls and returns a cursor if more may follow.
	p, err := b.ListCalls(t.Context(), signal.CallQuery{Lane: "SCIENCE", Limit: 10})
	if err != nil || len(p.Signals) != 0 || p.Next == "" {
		t.Errorf("%d calls, next %q, %v", len(p.Signals), p.Next, err)
	}
	for _, q := range []signal.CallQuery{{Limit: 50}, {Limit: 50, Handle: rare}, {Limit: 50, MarketID: "1"}} {
		e := newExplainer(b)
		s := &Store{rq: db.New(e)}
		if _, err := s.callsBetween(t.Context(), q, newestPlace, oldestPlace); !errors.Is(err, errExplained) {
			t.Fatal(err)
		}
		if strings.Contains(e.plan, "Seq Scan on signals") {
			t.Errorf("%+v reads all calls:\n%s", q, e.plan)
		}
	}
}

// TestRuleLane checks that a lane set by an administrator has precedence over later answers of the venue. The change must be
// in the audit log and must change the counts by lane.
func TestRuleLane(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(false, b.answer("1", 3000, func(r *market.Record) { r.Lane = "SPORT" }))
	b.file(b.operators(1)[0], "1", protocol.Yes, 3000)
	place := func(title string) string { return "film" }
	if _, err := b.RuleLane(t.Context(), "404", protocol.LaneMusic, place, noon); !errors.Is(err, market.ErrNotFound) {
		t.Errorf("unknown market: %v", err)
	}
	if c, err := b.RuleLane(t.Context(), "1", protocol.LaneEntertainment, place, noon); err != nil || c != "film" {
		t.Fatalf("category of the lane: %s, %v", c, err)
	}
	b.clock.Advance(time.Minute)
	b.apply(false, b.answer("1", 3100, func(r *market.Record) { r.Lane, r.Title = "SPORT", "Another title?" }))
	if m := b.market("1"); m.Lane != protocol.LaneEntertainment || m.Title != "Another title?" {
		t.Errorf("lane and title after a venue answer: %s, %s", m.Lane, m.Title)
	}
	known, err := b.KnownLanes(t.Context(), []string{"1", "404"})
	if err != nil || len(known) != 1 || !known["1"].Ruled || known["1"].Category != "film" {
		t.Errorf("known lanes: %+v, %v", known, err)
	}
	counts, err := b.LaneCounts(t.Context())
	if err != nil || fmt.Sprint(counts) != "[{ENTERTAINMENT 1 1 1}]" {
		t.Errorf("counts by lane: %v, %v", counts, err)
	}
	if n := b.count(`SELECT count(*) FROM api.audit_log WHERE action = 'market.lane' AND subject = '1' AND data->>'from' = 'SPORT'`); n != 1 {
		t.Errorf("%d entries in the audit log, want 1", n)
	}
}
