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
	if _, err := b.Claim(t.Context(), resolve.Claim{MarketID: "2", Verdict: syntax.VerdictNo, Resolver: "admin", Source: "admin"}, b.clock.Now); err != nil {
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
		if _, err := b.Claim(t.Context(), resolve.Claim{MarketID: id, Verdict: syntax.VerdictNo, Resolver: "admin", Source: "admin"}, b.clock.Now); err != nil {
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
