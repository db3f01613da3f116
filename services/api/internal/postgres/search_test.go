package postgres

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// TestFindMarketsFollowsTheCatalogue checks that the search index changes with new markets, titles, volumes and claims.
func TestFindMarketsFollowsTheCatalogue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	named := func(id, title string, volume float64) market.Record {
		return b.answer(id, 3000, func(r *market.Record) {
			r.Title, r.Slug, r.VolumeUSD, r.EventKey = title, "flood-"+id, &volume, "flood"
		})
	}
	b.apply(false, named("1", "Ostrava gauge", 10), named("2", "Morava gauge", 20))
	b.nativeMarket("native-aaaaaaaaaaaa", 4000)
	if got := b.found(search.Query{Text: "gauge"}); got != "2 1 native-aaaaaaaaaaaa" {
		t.Errorf("after the first answers: %s", got)
	}
	b.clock.Advance(time.Minute)
	b.apply(false, named("1", "Ostrava gauge", 21), named("3", "Odra gauge", 20.5))
	if got := b.found(search.Query{Text: "gauge", Provider: protocol.Polymarket}); got != "1 3 2" {
		t.Errorf("after a volume in the same step and a new market: %s", got)
	}
	b.clock.Advance(time.Minute)
	b.apply(false, named("2", "Morava gauge", 99))
	if got := b.found(search.Query{Provider: protocol.Polymarket}); got != "2 1 3" {
		t.Errorf("after a volume in another step: %s", got)
	}
	b.clock.Advance(time.Minute)
	b.apply(false, named("3", "Oder level", 30))
	b.claim("2", protocol.VerdictNo)
	if got := b.found(search.Query{Text: "gauge", Provider: protocol.Polymarket}); got != "1" {
		t.Errorf("after a new title and a claim: %s", got)
	}
	if got := b.found(search.Query{Text: "gauge", Status: search.StatusEnded}); got != "2" {
		t.Errorf("closed markets: %s", got)
	}
}

// TestVolumesSeldomWriteTheIndex checks that a new volume changes the search index only if its step, which the index stores,
// changes.
func TestVolumesSeldomWriteTheIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	apply := func(volume float64) (version string) {
		t.Helper()
		b.clock.Advance(time.Minute)
		b.apply(false, b.answer("1", 3000, func(r *market.Record) { r.VolumeUSD = &volume }))
		if err := b.admin.QueryRow(t.Context(), `SELECT xmin::text FROM api.market_search WHERE market_id = '1'`).Scan(&version); err != nil {
			t.Fatal(err)
		}
		return version
	}
	first := apply(1000)
	if apply(1010) != first {
		t.Error("a volume in the same step writes the index")
	}
	if apply(2000) == first {
		t.Error("a volume in another step does not write the index")
	}
}

// TestFillSearch checks that the migration that fills the search index writes the same rows as the triggers.
func TestFillSearch(t *testing.T) {
	t.Parallel()
	b := listGauges(t)
	const state = `SELECT md5(string_agg(s::text, ' ' ORDER BY s.market_id)) FROM api.market_search AS s`
	var before, after string
	if err := b.admin.QueryRow(t.Context(), state).Scan(&before); err != nil {
		t.Fatal(err)
	}
	b.exec(`TRUNCATE api.market_search, api.market_words`)
	b.exec(`DO $$ DECLARE last text := ''; BEGIN
		LOOP last := api.fill_search(last, 3); EXIT WHEN last IS NULL; END LOOP; END $$`)
	if err := b.admin.QueryRow(t.Context(), state).Scan(&after); err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Error("the filled index differs from that of the triggers")
	}
	if got := b.found(search.Query{Text: "ostrva gauge"}); got != "1" {
		t.Errorf("found %q in the filled index", got)
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
	b.file(keys[0], "1", protocol.Yes, 3000)
	b.file(keys[1], "1", protocol.No, 7000)
	b.clock.Advance(time.Minute)
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "native-aaaaaaaaaaaa"} {
		b.claim(id, protocol.VerdictNo)
		if id >= "4" { // the first four have the same time
			b.clock.Advance(time.Millisecond)
		}
	}
	s := search.NewService(b.Store, b.clock.Now)
	var all []string
	var first search.Resolved
	for cursor := ""; ; {
		rows, next, err := s.Resolved(t.Context(), protocol.Polymarket, 2, cursor)
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
	page := func(limit int, cursor string) string {
		t.Helper()
		rows, next, err := s.Resolved(t.Context(), protocol.Polymarket, limit, cursor)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s %t", len(rows), rows[0].ID, next != "")
	}
	for _, cursor := range []string{
		"", "nonsense", protocol.NewCursor("1", "volume", "1", "1").Encode(), protocol.NewCursor("1", "x", "5").Encode(),
	} {
		if got := page(2, cursor); got != "2 6 true" {
			t.Errorf("invalid cursor %q gives %s", cursor, got)
		}
	}
	if got := page(-1, ""); got != "6 6 false" {
		t.Errorf("default page: %s", got)
	}
	if first.Signals != 2 || first.Verdict != protocol.VerdictNo || first.ClosePrice == nil || *first.ClosePrice != 3000 || !first.ResolvedAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("first row: %+v", first)
	}
}
