package postgres

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/services/api/internal/board"
)

// TestPulseTotals checks the counts of the pulse: by tier, for the rolling weeks, and of results.
func TestPulseTotals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	totals := func() board.Totals {
		t.Helper()
		return must(b.PulseTotals(t.Context(), noon))(t)
	}
	if got := totals(); got != (board.Totals{}) {
		t.Errorf("pulse without calls: %+v", got)
	}
	for _, id := range []string{"1", "2", "3"} {
		b.venueMarket(id, 3150)
	}
	people := map[string]string{"mara": "", "tide": "", "house": "is_house = true", "bot": "operator_type = 'system_bot'", "quiet": ""}
	for name, change := range people {
		b.operator(name)
		if change != "" {
			b.exec(`UPDATE api.users SET ` + change + ` WHERE handle = '` + name + `'`)
		}
	}
	call := func(who, market string, ago time.Duration) {
		t.Helper()
		b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
			SELECT gen_random_uuid(), $2, id, true, 3150, 3150, true, $3, 't', 'web' FROM api.users WHERE handle = $1`, who, market, noon.Add(-ago))
		b.exec(`INSERT INTO api.operator_totals AS t (user_id, total) SELECT id, 1 FROM api.users WHERE handle = $1 ON CONFLICT (user_id) DO UPDATE SET total = t.total + 1`, who)
		b.exec(`INSERT INTO api.market_totals AS t (market_id, yes) VALUES ($1, 1) ON CONFLICT (market_id) DO UPDATE SET yes = t.yes + 1`, market)
	}
	const day = 24 * time.Hour
	call("mara", "1", time.Hour)
	call("mara", "2", 7*day)
	call("mara", "3", 10*day)
	call("tide", "1", 40*day)
	call("house", "1", day)
	call("bot", "1", day)
	call("bot", "2", 10*day)
	b.exec(`UPDATE api.operator_scores SET won = 1, lost = 1, clv_count = 2, beat_line = 1 WHERE user_id = (SELECT id FROM api.users WHERE handle = 'mara')`)
	b.exec(`UPDATE api.operator_scores SET void = 1 WHERE user_id = (SELECT id FROM api.users WHERE handle = 'bot')`)
	want := board.Totals{
		Signals: 7, Independent: 4, House: 1, Automated: 2, Last7: 2, Prev7: 1, IndependentOperators: 2, IndependentActive28: 1,
		HouseOperators: 1, Registered: 5, Markets: 3, Won: 1, Lost: 1, Open: 4, CLVCount: 2, BeatLine: 1,
	}
	got := totals()
	if diff := cmp.Diff(want, got); diff != "" || got.Resolved() != 2 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
