package postgres

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

func (b *bundle) found(s *search.Service, q search.Query) string {
	b.t.Helper()
	if err := s.Refresh(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	ids, _, err := s.Find(b.t.Context(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	return fmt.Sprint(ids)
}

// The index follows the tables: new markets, new words, new volumes, claims.
func TestSearchFollowsTheCatalogue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	named := func(id, title string, volume float64) market.Record {
		return b.answer(id, 3000, func(r *market.Record) {
			r.Title, r.Slug, r.VolumeUSD, r.EventKey = title, "flood-"+id, &volume, "flood"
		})
	}
	b.apply(false, named("1", "Ostrava gauge", 10), named("2", "Morava gauge", 20))
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	s := search.NewService(b.Store, b.clock.Now)
	if got := b.found(s, search.Query{Text: "gauge"}); got != "[2 1 native-aaaaaaaaaaaa]" {
		t.Errorf("at first %s", got)
	}
	b.clock.Advance(time.Minute)
	b.found(s, search.Query{}) // so that the next look goes not back to the beginning
	b.clock.Advance(time.Minute)
	b.apply(false, named("1", "Ostrava gauge", 99), named("3", "Odra gauge", 30))
	if got := b.found(s, search.Query{Text: "gauge", Provider: syntax.Polymarket}); got != "[1 3 2]" {
		t.Errorf("after a new volume and a new market %s", got)
	}
	b.clock.Advance(time.Minute)
	b.apply(false, named("3", "Oder level", 30))
	if _, err := b.Claim(t.Context(), resolve.Claim{MarketID: "2", Verdict: syntax.VerdictNo, Resolver: "admin", Source: "admin"}, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if got := b.found(s, search.Query{Text: "gauge", Provider: syntax.Polymarket}); got != "[1]" {
		t.Errorf("after new words and a claim %s", got)
	}
	if got := b.found(s, search.Query{Text: "gauge", Closed: true}); got != "[2]" {
		t.Errorf("closed %s", got)
	}
	docs, err := b.ListSearchable(t.Context(), b.clock.Now().Add(-time.Second))
	if err != nil || len(docs) != 2 {
		t.Errorf("%d rows changed just now, want 2 (%v)", len(docs), err)
	}
}

func TestListResolved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keys := b.operators(2)
	for i := range 7 {
		b.venueMarket(fmt.Sprint(i+1), 3000)
	}
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	b.file(keys[0], "1", syntax.Yes, 3000)
	b.file(keys[1], "1", syntax.No, 7000)
	b.clock.Advance(time.Minute)
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "native-aaaaaaaaaaaa"} {
		if _, err := b.Claim(t.Context(), resolve.Claim{MarketID: id, Verdict: syntax.VerdictNo, Resolver: "admin", Source: "admin"}, b.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if id >= "4" { // the first four share a moment
			b.clock.Advance(time.Millisecond)
		}
	}
	s := search.NewService(b.Store, b.clock.Now)
	var all []string
	var first search.Resolved
	for cursor := ""; ; {
		rows, next, err := s.Resolved(t.Context(), syntax.Polymarket, 2, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			all = append(all, string(r.ID))
			if r.ID == "1" {
				first = r
			}
		}
		if cursor = next; next == "" || len(all) > 20 {
			break
		}
	}
	if want := []string{"6", "5", "4", "3", "2", "1"}; !slices.Equal(all, want) {
		t.Errorf("listed %v, want %v", all, want)
	}
	if first.Signals != 2 || first.Verdict != syntax.VerdictNo || first.ClosePrice == nil || *first.ClosePrice != 3000 || !first.ResolvedAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("row %+v", first)
	}
}

func TestListTiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keys := b.operators(2)
	open := func(id, event string, volume float64, hours int, change ...func(*market.Record)) market.Record {
		return b.answer(id, 3000, append(change, func(r *market.Record) {
			end := noon.Add(24*time.Hour + time.Duration(hours)*time.Hour)
			r.EventKey, r.EventTitle, r.Volume24h, r.EndDate, r.Slug = event, "River levels", &volume, &end, "m"+id
		})...)
	}
	b.apply(true, open("1", "flood", 100, 400), open("2", "flood", 900, 12), open("3", "", 50, 400), open("4", "flood", 5, -1),
		open("5", "shut", 70, 12, closed(false)), open("6", "flood", 1, 24))
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ('2', $1, 100)`, noon.Add(-48*time.Hour))
	b.clock.Advance(24 * time.Hour)
	now := b.clock.Now()
	b.apply(true, b.answer("2", 4500, func(r *market.Record) {
		v, end := 900.0, now.Add(12*time.Hour)
		r.EventKey, r.EventTitle, r.Volume24h, r.EndDate, r.Slug = "flood", "River levels", &v, &end, "m2"
	}))
	id := b.file(keys[0], "2", syntax.Yes, 4500)
	b.file(keys[1], "1", syntax.Yes, 3000)
	b.exec(`INSERT INTO api.signal_events (id, signal_id, type, payload, created_at) VALUES (gen_random_uuid(), $1, 'take', '{}', $2)`, id, now)
	s := search.NewService(b.Store, b.clock.Now)
	list, err := s.Tiles(t.Context(), syntax.Polymarket, false)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d tiles, %v", len(list), err)
	}
	// The market that is past its end is not counted, nor shown.
	if m := list[0]; m.MarketID != "2" || m.Markets != 3 || m.Total24h != 1001 || m.Signals != 1 || m.Takes != 1 || m.Move == nil || *m.Move != 1500 || m.Volume24h != 900 {
		t.Errorf("the event: %+v, move %v", m, m.Move)
	}
	if m := list[1]; m.MarketID != "3" || m.Markets != 1 || m.Signals != 0 || m.Yes != nil || m.ID(false) != "m3" {
		t.Errorf("the market without an event: %+v", m)
	}
	list, err = s.Tiles(t.Context(), syntax.Polymarket, true)
	if err != nil || len(list) != 2 || list[0].MarketID != "2" || list[0].Markets != 1 || list[0].Total24h != 900 || list[1].MarketID != "6" {
		t.Errorf("within a day: %+v, %v", list, err)
	}
}
