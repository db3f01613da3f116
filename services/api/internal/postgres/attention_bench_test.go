package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/attention"
)

// BenchmarkFacts measures an attention.Service refresh from a database with 50,000 open markets. Each market has a price
// snapshot every 15 minutes of a day, 4.8 million in total. Half of the markets have enough volume to be listed as moving,
// and one in 25 moves.
func BenchmarkFacts(b *testing.B) {
	db := testkit.Postgres(b, pg.Schema{Name: "api", Files: Migrations()})
	admin, rw := testkit.Pool(b, db.Admin), testkit.Pool(b, db.URL("api_rw"))
	for _, sql := range []string{
		`INSERT INTO api.markets (market_id, provider, title, status, end_date, lane, category, event_key, event_title, slug, fetched_at, created_at, updated_at)
			SELECT (500000 + i)::text, 'polymarket', 'Will gauge number ' || i || ' read above six metres?', 'open', $1::timestamptz + (i % 400 + 1) * interval '1 hour',
				'SCIENCE', 'science', 'event-' || i / 3, 'River levels ' || i / 3, 'gauge-' || i, $1, $1, $1 FROM generate_series(1, 50000) i`,
		`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h)
			SELECT (500000 + i)::text, 5000, $1::timestamptz - (i % 540) * interval '1 second', i, i % 2000, i FROM generate_series(1, 50000) i`,
	} {
		if _, err := admin.Exec(b.Context(), sql, noon); err != nil {
			b.Fatal(err)
		}
	}
	for quarter := 96; quarter >= 0; quarter-- {
		if _, err := admin.Exec(b.Context(), `INSERT INTO api.market_prices (market_id, at, yes_bps)
			SELECT (500000 + i)::text, $1::timestamptz - $2::integer * interval '15 minutes' - (i % 540) * interval '1 second', 5000 + i * $2 % 97 + CASE WHEN i % 25 = 0 THEN 200 ELSE 0 END
			FROM generate_series(1, 50000) i`, noon, quarter); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := admin.Exec(b.Context(), `VACUUM ANALYZE api.markets, api.market_quotes, api.market_prices`); err != nil {
		b.Fatal(err)
	}
	store := New(rw, Rules{ReadBudget: 20 * time.Second}, time.Now)
	defer store.Close()
	now := func() time.Time { return noon }
	service := attention.NewService(store, now)
	for name, do := range map[string]func() error{
		"statement": func() error { _, err := store.ListFacts(b.Context(), noon); return err },
		"refresh":   func() error { return service.Refresh(b.Context()) },
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := do(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			b.ReportMetric(float64(slices.Max(took).Milliseconds()), "max-ms")
		})
	}
}
