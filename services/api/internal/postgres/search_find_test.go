package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// listed contains the data of a market in a search test.
type listed struct {
	id, title, slug string
	volume          *float64
	provider        protocol.Provider
	status          protocol.MarketStatus
	lane            protocol.Lane
	event           string
	end             *time.Time
}

// gauge returns an open market with the given id, title, slug and volume. All such markets have the same end date.
func gauge(id, title, slug string, volume float64) listed {
	end := noon.Add(24 * time.Hour)
	return listed{id: id, title: title, slug: slug, volume: &volume, provider: protocol.Polymarket, status: protocol.MarketOpen, lane: protocol.LaneScience, end: &end}
}

// list stores markets. A market with a greater volume gets a smaller volume of the last 24 hours.
func (b *bundle) list(markets ...listed) {
	b.t.Helper()
	for _, m := range markets {
		var verdict, prior, day any
		if m.status == protocol.MarketResolved {
			verdict = "YES"
		}
		if m.provider == protocol.Manual {
			prior = 5000
		}
		if m.volume != nil {
			day = 1000 - *m.volume
		}
		b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume_usd, volume24h) VALUES ($1, 5000, $2, $3, $4)
			ON CONFLICT (market_id) DO UPDATE SET volume_usd = excluded.volume_usd, volume24h = excluded.volume24h`, m.id, noon, m.volume, day)
		b.exec(`INSERT INTO api.markets (market_id, provider, title, slug, status, resolution_value, end_date, lane, event_key, initial_yes_bps, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
			ON CONFLICT (market_id) DO UPDATE SET title = excluded.title, slug = excluded.slug, lane = excluded.lane`,
			m.id, string(m.provider), m.title, m.slug, string(m.status), verdict, m.end, string(m.lane), m.event, prior, noon)
	}
}

// found returns the ids of the markets on one page of a search, separated by spaces.
func (b *bundle) found(q search.Query) string {
	b.t.Helper()
	ids, _, err := search.NewService(b.Store, b.clock.Now).Find(b.t.Context(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Trim(fmt.Sprint(ids), "[]")
}

func listGauges(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	b.list(
		gauge("1", "Will the Ostrava gauge read above 6 m before 1 December?", "ostrava-gauge-6m", 100),
		gauge("2", "Gauges of the Morava", "", 900),
		gauge("3", "Will São Paulo FC win?", "sao-paulo", 300),
		gauge("4", "Zażółć Łódź in 2026", "lodz-2026", 200),
		gauge("5", "Will Bitcoin reach $100,000 by Friday?", "bitcoin-100k", 5000),
		gauge("6", "Fed’s rate in 2025", "feds-rate", 50),
		gauge("7", "Misgauged rivers", "", 9000),
		gauge("8", "Журнал Ostrawa, 東京は", "", 7000),
	)
	return b
}

func TestFindMarkets(t *testing.T) {
	t.Parallel()
	b := listGauges(t)
	const all = "7 8 5 2 3 4 1 6"
	for _, c := range []struct{ q, want string }{
		{"gauge", "1 2 7"}, // the word itself, then words that begin with it, then words that contain it, at any volume
		{"GAUGE ostrava", "1"},
		{"ostrava gauge", "1"},
		{"ostr gau", "1"},
		{"ostrava-gauge", "1"},
		{"6m", "1"}, // only the slug contains the word
		{"sao paulo", "3"},
		{"São PAULO", "3"},
		{"lodz", "4"},
		{"łódź zazolc", "4"},
		{"100,000", "5"},
		{"100000", "5"},
		{"feds", "6"},
		{"fed's", "6"},
		{"ЖУРНАЛ", "8"},
		{"рнал", "8"},
		{"東京は", "8"},
		{"京は", "8"},
		{"bitcoin gauge", ""},
		// One typing error.
		{"bitcoim", "5"},
		{"bticoin", "5"},
		{"bitcin", "5"},
		{"bitcooin", "5"},
		{"ibtcoin", "5"},
		{"bitconi", "5"},
		{"ostrva gauge", "1"},
		{"friay", "5"},
		{"журнла", "8"},
		{"жрнал", "8"},
		{"ostrava", "1 8"}, // after the market with the word itself, at any volume
		{"ostrawa", "8 1"},
		{"gaugse", "2 1"}, // another letter is not a typing error: gauges, gauge
		{"wim", ""},       // too short for a typing error
		{"2027", ""},      // another year is not a typing error
		{"btcoim", ""},
		{"", all},
		{" \t", all},
		{"!!!", ""},
		{"'", ""},
		{`\`, ""},
		{"gau' | 'x", ""},
		{"%", ""},
		{"gau_%", "2 1 7"},
		{"\x00", ""},
		{"gau\x00ostrava", "1"},
		{"\xff\xfe", ""},
		{strings.Repeat("gauge ", 100_000), "1 2 7"},
		{strings.Repeat("x", 10_000), ""},
	} {
		if got := b.found(search.Query{Text: c.q}); got != c.want {
			t.Errorf("%.40q: %q, want %q", c.q, got, c.want)
		}
	}
}

func TestFindMarketsFiltersAndOrders(t *testing.T) {
	t.Parallel()
	b := listGauges(t)
	closed, settled, odd := gauge("18", "Gauge shut", "", 1), gauge("9", "Gauge settled", "", 2), gauge("10", "Gauge unknown", "", 3)
	closed.status, settled.status, odd.status = protocol.MarketClosed, protocol.MarketResolved, protocol.MarketUnknown
	native := gauge("native-aaaaaaaaaaaa", "Gauge native", "", 4)
	native.provider, native.lane = protocol.Manual, protocol.LaneWorld
	unpriced := gauge("11", "Gauge unpriced", "", 0)
	unpriced.volume, unpriced.end = nil, nil
	soon := gauge("12", "Gauge soon", "", 5)
	early := noon.Add(time.Hour)
	soon.end = &early
	b.list(closed, settled, odd, native, unpriced, soon)
	for _, c := range []struct {
		q    search.Query
		want string
	}{
		{search.Query{Status: search.StatusEnded}, "9 18"},
		{search.Query{Provider: protocol.Polymarket}, "1 12 11 2 7"},
		{search.Query{}, "1 12 native-aaaaaaaaaaaa 11 2 7"},
		{search.Query{Lane: protocol.LaneWorld}, "native-aaaaaaaaaaaa"},
		{search.Query{Provider: "x' | '=OPEN"}, ""},
		{search.Query{Sort: search.ByVolume24h, Provider: protocol.Polymarket}, "12 1 11 2 7"},
		{search.Query{Sort: search.ByEndDate, Provider: protocol.Polymarket}, "12 1 11 2 7"},
		{search.Query{Sort: "nonsense", Limit: 2}, "1 12"},
	} {
		c.q.Text = "gauge"
		if got := b.found(c.q); got != c.want {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
	for _, c := range []struct {
		q    search.Query
		want string
	}{
		{search.Query{Lane: protocol.LaneWorld}, "native-aaaaaaaaaaaa"},
		{search.Query{Status: search.StatusEnded, Sort: search.ByVolume24h}, "18 9"},
		{search.Query{Sort: search.ByEndDate, Limit: 2}, "12 1"},
	} {
		if got := b.found(c.q); got != c.want {
			t.Errorf("without text %+v: %q, want %q", c.q, got, c.want)
		}
	}
}

// TestFindMarketsPages checks that every market is listed once for every page size and sort order, also with equal and
// unknown sort values. A cursor of another sort order or list must select the first page.
func TestFindMarketsPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume_usd, volume24h)
		SELECT i::text, 5000, $1, CASE WHEN i % 5 > 0 THEN i % 7 * 10 END, CASE WHEN i % 5 > 0 THEN i % 3 END FROM generate_series(1, 257) AS i`, noon)
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, resolution_value, end_date, created_at, updated_at)
		SELECT CASE WHEN s = 'open' THEN i ELSE i + 1000 END::text, 'polymarket', (ARRAY['gauge', 'gauges', 'a gauge too', 'misgauged'])[1 + i % 4], s,
			CASE WHEN s = 'resolved' THEN 'NO' END, CASE WHEN i % 5 > 0 THEN $1::timestamptz + i % 6 * interval '1 hour' END, $1, $1
		FROM generate_series(1, 257) AS i, unnest(ARRAY['open', 'resolved']) AS s`, noon)
	s := search.NewService(b.Store, b.clock.Now)
	for _, order := range []search.Sort{search.ByVolume, search.ByVolume24h, search.ByEndDate} {
		for text, want := range map[string]int{"": 257, "gauge": 257, "guage": 128} { // one exchanged pair of letters
			for _, status := range []search.Status{search.StatusOpen, search.StatusResolved} {
				var all []protocol.MarketID
				for cursor, pages := "", 0; ; pages++ {
					ids, next, err := s.Find(t.Context(), search.Query{Text: text, Sort: order, Status: status, Limit: 10, Cursor: cursor})
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, ids...)
					if next == "" || pages > 40 {
						break
					}
					cursor = next
				}
				whole, _, err := s.Find(t.Context(), search.Query{Text: text, Sort: order, Status: status})
				if err != nil || len(all) < 100 || !slices.Equal(whole, all[:100]) {
					t.Errorf("%s %q %s: pages of ten differ from one of a hundred (%v)", order, text, status, err)
				}
				seen := slices.Clone(all)
				slices.Sort(seen)
				if len(all) != want || len(slices.Compact(seen)) != want {
					t.Errorf("%s %q %s: %d markets, want %d, each once", order, text, status, len(all), want)
				}
			}
		}
	}
	first, next, err := s.Find(t.Context(), search.Query{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, cursor := range []string{
		"%%%", strings.Repeat("A", 5000), protocol.NewCursor("1", "1").Encode(), protocol.NewCursor("1", "endDate", "1", "0").Encode(),
		protocol.NewCursor("1", "volume", "x", "0").Encode(), protocol.NewCursor("1", "volume", "1", "NaN").Encode(),
		protocol.NewCursor("1", "volume", "99999999999", "1").Encode(),
	} {
		if ids, _, err := s.Find(t.Context(), search.Query{Limit: 10, Cursor: cursor}); err != nil || !slices.Equal(ids, first) {
			t.Errorf("cursor %.30q gives %v, %v", cursor, ids, err)
		}
	}
	if ids, _, err := s.Find(t.Context(), search.Query{Limit: 10, Cursor: next}); err != nil || slices.Equal(ids, first) {
		t.Errorf("the cursor gives the same page (%v)", err)
	}
}

func TestRelatedMarkets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	with := func(m listed, event string, status protocol.MarketStatus, lane protocol.Lane) listed {
		m.event, m.status, m.lane = event, status, lane
		return m
	}
	const open, closed = protocol.MarketOpen, protocol.MarketClosed
	other := with(gauge("lmt-x", "Something else", "", 1e9), "flood", open, protocol.LaneWorld)
	other.provider = protocol.Limitless
	blank := with(gauge("9", "Comets", "", 0), "", open, protocol.LaneScience)
	blank.volume = nil
	active := with(gauge("1", "Will the Ostrava gauge read above 6 m before 1 December?", "", 1), "flood", open, protocol.LaneScience)
	b.list(active, other, blank,
		with(gauge("2", "Ostrava gauge above 5 m", "", 10), "flood", open, protocol.LaneScience),
		with(gauge("3", "River closed", "", 999), "flood", closed, protocol.LaneOther),
		with(gauge("4", "Morava", "", 20), "flood", open, protocol.LaneOther),
		with(gauge("5", "Ostrava gauge in spring", "", 5), "", open, protocol.LaneWorld),
		with(gauge("6", "Gauge of Ostrava, above or not", "", 500), "", closed, protocol.LaneWorld),
		with(gauge("7", "Will the moon be seen before 1 December?", "ostrava-gauge-above-6", 70), "", protocol.MarketResolved, protocol.LaneScience),
		with(gauge("8", "Stars", "", 3), "", open, protocol.LaneScience),
		with(gauge("10", "Ostrava gauge", "", 3), "", protocol.MarketUnknown, protocol.LaneScience))
	s := search.NewService(b.Store, b.clock.Now)
	related := func(m listed) (list []search.Related, shown string) {
		t.Helper()
		list, err := s.Related(t.Context(), search.Doc{
			ID: protocol.MarketID(m.id), Provider: m.provider, Title: m.title, Lane: m.lane, EventKey: m.event,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			shown += fmt.Sprintf("%s:%s:%.2f ", r.ID, r.Relation, r.Similarity)
		}
		return list, strings.TrimSpace(shown)
	}
	const want = "4:same_event:0.00 2:same_event:0.44 3:same_event:0.00 5:similar:0.22 6:similar:0.33 7:similar:0.20 8:same_lane:0.00 9:same_lane:0.00"
	if _, got := related(active); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// A market that is not in the index has the same related markets.
	fresh := active
	fresh.id = "77"
	if _, got := related(fresh); !strings.Contains(got, "1:same_event:1.00") {
		t.Errorf("related markets of a market that is not in the index: %s", got)
	}
	for i := range 50 {
		b.list(with(gauge(fmt.Sprint(1000+i), "Ostrava", "", float64(i)), "flood", open, protocol.LaneOther))
	}
	if list, shown := related(active); len(list) != search.MostRelated || list[0].ID != "1049" || list[11].ID != "1038" {
		t.Errorf("%d related, %s", len(list), shown)
	}
	lone := with(gauge("88", "zzz", "", 1), "", open, protocol.LaneOther)
	if list, shown := related(lone); len(list) != 0 {
		t.Errorf("the lane OTHER relates markets: %s", shown)
	}
	lone.title = "?"
	if list, shown := related(lone); len(list) != 0 {
		t.Errorf("related markets of a title without words: %s", shown)
	}
}
