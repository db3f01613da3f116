package postgres

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// BenchmarkFindMarkets measures searches in 50,000 open and 1,000,000 resolved markets whose words have the frequencies of a
// natural language. Each sub-benchmark is one kind of query, from a single letter to a typing error.
func BenchmarkFindMarkets(b *testing.B) {
	db := testkit.Postgres(b, pg.Schema{Name: "api", Files: Migrations()})
	admin := testkit.Pool(b, db.Admin)
	seedSearch(b, admin)
	rw, err := pg.Open(b.Context(), pg.Config{URL: db.URL("api_rw"), Params: map[string]string{"plan_cache_mode": "force_generic_plan"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(rw.Close)
	start := time.Now()
	measureSearch(b, admin, rw, func() time.Duration { return time.Since(start) })
}

// seedSearch stores the markets of the benchmark. It fills the search index without triggers, as the migration does.
func seedSearch(b *testing.B, admin *pgxpool.Pool) {
	b.Helper()
	for _, sql := range []string{
		`CREATE TABLE public.vocabulary AS SELECT n, (SELECT string_agg(substr('eeetaoinshrdlucmwfgypbvkjxqz', 1 + ascii(substr(md5(n || '-' || j), 1)) * (n + j) % 28, 1), '')
			FROM generate_series(1, 3 + hashint4(n) % 4 + 4) AS j) AS word FROM generate_series(1, 30000) AS n`,
		`CREATE TABLE public.titles AS SELECT d.i, string_agg(v.word, ' ' ORDER BY d.j) AS words
			FROM (SELECT i, j, 1 + floor(exp(random() * ln(29999)))::integer AS n FROM generate_series(1, 1050000) AS i, generate_series(1, 9) AS j) AS d
			JOIN public.vocabulary AS v ON v.n = d.n GROUP BY d.i`,
		`ALTER TABLE api.markets DISABLE TRIGGER USER`,
		`ALTER TABLE api.market_quotes DISABLE TRIGGER USER`,
		`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume_usd, volume24h, open_at)
			SELECT (500000 + i)::text, 5000, now(), v, v / 30, CASE WHEN i <= 50000 THEN now() END
			FROM (SELECT i, CASE WHEN random() < 0.1 THEN 0 ELSE exp(8 + 3 * sqrt(-2 * ln(random())) * cos(6.283 * random())) END AS v FROM public.titles) AS t`,
		`INSERT INTO api.markets (market_id, provider, title, status, resolution_value, end_date, lane, event_key, created_at, updated_at)
			SELECT (500000 + i)::text, (ARRAY['polymarket', 'polymarket', 'polymarket', 'kalshi', 'limitless', 'manifold'])[1 + i % 6],
				'Will the ' || words || '?', CASE WHEN i <= 50000 THEN 'open' ELSE 'resolved' END, CASE WHEN i > 50000 THEN 'YES' END,
				now() + (i % 400 - CASE WHEN i > 50000 THEN 400 ELSE 0 END) * interval '1 hour',
				(ARRAY['SCIENCE', 'WORLD', 'POLITICS', 'SPORTS', 'CRYPTO', 'OTHER'])[1 + i % 6], 'event-' || i / 5, now(), now()
			FROM public.titles`,
		`ALTER TABLE api.markets ENABLE TRIGGER USER`,
		`ALTER TABLE api.market_quotes ENABLE TRIGGER USER`,
		`DO $$ DECLARE last text := ''; BEGIN
			LOOP last := api.fill_search(last, 5000); EXIT WHEN last IS NULL; COMMIT; END LOOP; END $$`,
		`VACUUM ANALYZE api.markets, api.market_quotes, api.market_search, api.market_words`,
	} {
		if _, err := admin.Exec(b.Context(), sql); err != nil {
			b.Fatalf("%s: %v", sql, err)
		}
	}
}

var benchSorts = []search.Sort{search.ByVolume, search.ByEndDate, search.ByNewest, search.ByCalls, search.ByMove}

// measureSearch reports the median and the 99th percentile of the durations of each kind of query. clock returns the time
// since a fixed start.
func measureSearch(b *testing.B, admin, rw *pgxpool.Pool, clock func() time.Duration) {
	b.Helper()
	rows, err := admin.Query(b.Context(), `SELECT word FROM public.vocabulary ORDER BY n`)
	if err != nil {
		b.Fatal(err)
	}
	var known []string
	for rows.Next() {
		var word string
		if err := rows.Scan(&word); err != nil {
			b.Fatal(err)
		}
		known = append(known, word)
	}
	r := rand.New(rand.NewPCG(1, 2))
	frequent := rand.NewZipf(r, 1.1, 4, uint64(len(known)-1))
	common, rare := func() string { return known[frequent.Uint64()] }, func() string { return known[r.IntN(len(known))] }
	store := New(rw, Rules{ReadBudget: time.Minute}, time.Now)
	defer store.Close()
	s := search.NewService(store, time.Now)
	texts := []struct {
		name string
		text func() string
	}{
		{"everything", func() string { return "" }},
		{"letter", func() string { return rare()[:1] }},
		{"beginning", func() string { return rare()[:3] }},
		{"frequent word", common},
		{"rare word", rare},
		{"two words", func() string { return common() + " " + rare() }},
		{"sentence", func() string { return "will the " + common() + " " + common() }},
		{"typing error", func() string { w := rare(); return w[:2] + "x" + w[2:] }},
		{"twelve words", func() string { return strings.Join(known[:12], " ") }},
	}
	mixed := func() string { return texts[r.IntN(len(texts)-1)].text() }
	texts = append(texts, struct {
		name string
		text func() string
	}{"mixed", mixed})
	for _, status := range []search.Status{search.StatusOpen, search.StatusEnded, search.StatusAny} {
		for _, k := range texts {
			b.Run(fmt.Sprintf("%s/%s", status, k.name), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					q := search.Query{Text: k.text(), Status: status, Sort: benchSorts[r.IntN(len(benchSorts))]}
					if r.IntN(4) == 0 {
						q.Provider, q.Lane = protocol.Kalshi, protocol.LaneWorld
					}
					start := clock()
					if _, _, err := s.Find(b.Context(), q); err != nil {
						b.Fatal(err)
					}
					took = append(took, clock()-start)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
	b.Run("related", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			d := search.Doc{ID: protocol.MarketID(fmt.Sprint(500_000 + r.IntN(50_000))), Provider: protocol.Polymarket, Lane: protocol.LaneScience}
			if err := admin.QueryRow(b.Context(), `SELECT title, event_key FROM api.markets WHERE market_id = $1`, string(d.ID)).Scan(&d.Title, &d.EventKey); err != nil {
				b.Fatal(err)
			}
			start := clock()
			if _, err := s.Related(b.Context(), d); err != nil {
				b.Fatal(err)
			}
			took = append(took, clock()-start)
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	})
}
