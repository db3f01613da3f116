package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

func ptr[T any](v T) *T { return &v }

func doc(id, title, slug string, volume float64) search.Doc {
	end := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	return search.Doc{
		ID: syntax.MarketID(id), Provider: syntax.Polymarket, Title: title, Slug: slug, Status: syntax.MarketOpen,
		Lane: syntax.LaneScience, EndDate: &end, Volume: &volume, Volume24h: ptr(-volume + 1000),
	}
}

func catalogue() *search.Index {
	x := search.NewIndex()
	x.Put([]search.Doc{
		doc("1", "Will the Ostrava gauge read above 6 m before 1 December?", "ostrava-gauge-6m", 100),
		doc("2", "Gauges of the Morava", "", 900),
		doc("3", "Will São Paulo FC win?", "sao-paulo", 300),
		doc("4", "Zażółć Łódź in 2026", "lodz-2026", 200),
		doc("5", "Will Bitcoin reach $100,000 by Friday?", "bitcoin-100k", 5000),
		doc("6", "Fed’s rate in 2025", "feds-rate", 50),
		doc("7", "Misgauged rivers", "", 9000),
	})
	return x
}

func find(x *search.Index, q search.Query) string {
	ids, _ := x.Find(q)
	return strings.Trim(fmt.Sprint(ids), "[]")
}

func TestFind(t *testing.T) {
	t.Parallel()
	x := catalogue()
	for _, c := range []struct{ q, want string }{
		{"gauge", "1 2 7"}, // itself, its beginning, its inside, whatever the volume
		{"GAUGE ostrava", "1"},
		{"ostrava gauge", "1"},
		{"ostr gau", "1"},
		{"ostrava-gauge", "1"},
		{"6m", "1"}, // of the slug alone
		{"sao paulo", "3"},
		{"São PAULO", "3"},
		{"lodz", "4"},
		{"łódź zazolc", "4"},
		{"100,000", "5"},
		{"100000", "5"},
		{"feds", "6"},
		{"fed's", "6"},
		{"bitcoin gauge", ""},
		// One letter off, where nothing is spelt so.
		{"bitcoim", "5"},
		{"bticoin", "5"},
		{"bitcin", "5"},
		{"bitcooin", "5"},
		{"ostrva gauge", "1"},
		{"friay", "5"},
		{"wim", ""},  // too short for a typo
		{"2027", ""}, // another year is no typo
		{"btcoim", ""},
		{"", "7 5 2 3 4 1 6"},
		{" \t", "7 5 2 3 4 1 6"},
		{"!!!", ""},
		{"\x00", ""},
		{"gau\x00ostrava", "1"},
		{"\xff\xfe", ""},
		{strings.Repeat("gauge ", 100_000), "1 2 7"},
	} {
		if got := find(x, search.Query{Text: c.q}); got != c.want {
			t.Errorf("%.40q: %q, want %q", c.q, got, c.want)
		}
	}
}

func TestFiltersAndOrders(t *testing.T) {
	t.Parallel()
	x := catalogue()
	closed, settled, odd := doc("8", "Gauge shut", "", 1), doc("9", "Gauge settled", "", 2), doc("10", "Gauge unknown", "", 3)
	closed.Status, settled.Status, odd.Status = syntax.MarketClosed, syntax.MarketResolved, syntax.MarketUnknown
	native := doc("native-aaaaaaaaaaaa", "Gauge native", "", 4)
	native.Provider, native.Lane = syntax.Manual, syntax.LaneWorld
	unpriced := doc("11", "Gauge unpriced", "", 0)
	unpriced.Volume, unpriced.Volume24h, unpriced.EndDate = nil, nil, nil
	soon := doc("12", "Gauge soon", "", 5)
	soon.EndDate = ptr(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC))
	x.Put([]search.Doc{closed, settled, odd, native, unpriced, soon})
	for _, c := range []struct {
		q    search.Query
		want string
	}{
		{search.Query{Closed: true}, "9 8"},
		{search.Query{Provider: syntax.Polymarket}, "1 12 11 2 7"},
		{search.Query{}, "1 12 native-aaaaaaaaaaaa 11 2 7"},
		{search.Query{Lane: syntax.LaneWorld}, "native-aaaaaaaaaaaa"},
		{search.Query{Sort: search.ByVolume24h, Provider: syntax.Polymarket}, "12 1 11 2 7"},
		{search.Query{Sort: search.ByEndDate, Provider: syntax.Polymarket}, "12 1 11 2 7"},
		{search.Query{Sort: "nonsense", Limit: 2}, "1 12"},
	} {
		c.q.Text = "gauge"
		if got := find(x, c.q); got != c.want {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
}

func TestChangesReachTheIndex(t *testing.T) {
	t.Parallel()
	x := catalogue()
	x.Put([]search.Doc{doc("1", "Will the Odra rise?", "odra", 100)})
	if got := find(x, search.Query{Text: "gauge"}); got != "2 7" {
		t.Errorf("the old words find %q", got)
	}
	if got := find(x, search.Query{Text: "odra"}); got != "1" || x.Len() != 7 {
		t.Errorf("the new words find %q of %d", got, x.Len())
	}
	x.Put([]search.Doc{doc("2", "Gauges of the Morava", "", 99_999)})
	if got := find(x, search.Query{Limit: 1}); got != "2" {
		t.Errorf("the new volume puts %q first", got)
	}
}

// Every market once, whatever the size of the pages, the order, equal values
// and unknown ones; a cursor of another order or list starts from the beginning.
func TestPages(t *testing.T) {
	t.Parallel()
	x := search.NewIndex()
	var docs []search.Doc
	for i := range 257 {
		d := doc(fmt.Sprint(i+1), []string{"gauge", "gauges", "a gauge too", "misgauged"}[i%4], "", float64(i%7))
		if i%5 == 0 {
			d.Volume, d.EndDate = nil, nil
		}
		docs = append(docs, d)
	}
	x.Put(docs)
	for _, sort := range []search.Sort{search.ByVolume, search.ByVolume24h, search.ByEndDate} {
		for _, text := range []string{"", "gauge", "guage"} {
			var all []syntax.MarketID
			for cursor, pages := "", 0; ; pages++ {
				ids, next := x.Find(search.Query{Text: text, Sort: sort, Limit: 10, Cursor: cursor})
				all = append(all, ids...)
				if next == "" || pages > 40 {
					break
				}
				cursor = next
			}
			want := 257
			if text == "guage" {
				want = 129 // the word itself, one exchange away
			}
			seen := slices.Clone(all)
			slices.Sort(seen)
			if len(all) != want || len(slices.Compact(seen)) != want {
				t.Errorf("%s %q: %d rows, want %d, each once", sort, text, len(all), want)
			}
		}
	}
	first, next := x.Find(search.Query{Limit: 10})
	for _, cursor := range []string{
		"%%%", strings.Repeat("A", 5000), syntax.NewCursor("1", "1").Encode(), syntax.NewCursor("1", "endDate", "1", "0").Encode(),
		syntax.NewCursor("1", "volume", "x", "0").Encode(), syntax.NewCursor("1", "volume", "1", "NaN").Encode(),
		syntax.NewCursor("1", "volume", "99999999999", "1").Encode(),
	} {
		if ids, _ := x.Find(search.Query{Limit: 10, Cursor: cursor}); !slices.Equal(ids, first) {
			t.Errorf("cursor %.30q leads to %v", cursor, ids)
		}
	}
	if ids, _ := x.Find(search.Query{Limit: 10, Cursor: next}); slices.Equal(ids, first) {
		t.Error("the cursor leads nowhere")
	}
}
