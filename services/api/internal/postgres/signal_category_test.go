package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// TestFeedOfACategory checks that the list of recent calls in a category contains the newest calls on its markets, even if
// they are rare among all calls. The other lists, and the list without a category, contain all calls.
func TestFeedOfACategory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		b.apply(false, b.answer(id, 3000, func(r *market.Record) { r.Category = map[string]string{"1": "sport"}[id] }))
	}
	b.exec(`UPDATE api.markets SET category = 'fashion' WHERE market_id IN ('2', '3', '4')`)
	b.seedSignals(t.Context(), "1", 2100) // all filed at noon
	old := func(market string, user int, before time.Duration) {
		b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
			SELECT gen_random_uuid(), $1, id, true, 5000, 5000, true, $3, 'old', 'web' FROM api.users WHERE handle = 'seed' || $2::text`, market, fmt.Sprint(user), noon.Add(-before))
	}
	for i := range 4 {
		old("2", i+1, time.Duration(10+i)*time.Hour)
		old("3", i+1, time.Duration(20+i)*time.Hour)
	}
	old("5", 1, time.Hour)
	list := func(f signal.FeedType, category string, limit int) string {
		t.Helper()
		rows, err := b.signals(nil).Feed(t.Context(), f, category, limit)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, r := range rows {
			out += fmt.Sprintf("%s@%.0f ", r.MarketID, noon.Sub(r.CreatedAt).Hours())
		}
		return out
	}
	for name, c := range map[string]struct{ got, want string }{
		"rare":         {list(signal.Recent, "fashion", 3), "2@10 2@11 2@12 "},
		"all":          {list(signal.Recent, "fashion", 50), "2@10 2@11 2@12 2@13 3@20 3@21 3@22 3@23 "},
		"frequent":     {list(signal.Recent, "sport", 2), "1@0 1@0 "},
		"unknown":      {list(signal.Recent, "moon", 2), ""},
		"no category":  {list(signal.Recent, "", 2), "1@0 1@0 "},
		"another feed": {list(signal.BeatCrowd, "fashion", 2) + list(signal.Open, "fashion", 2), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	// A call that is among the newest of all and among the newest of its market is listed once.
	b.exec(`INSERT INTO api.operator_totals (user_id) SELECT id FROM api.users ON CONFLICT DO NOTHING`)
	_, hash := b.operator("mara")
	b.clock.Advance(time.Hour)
	b.file(hash, "4", protocol.Yes, 3000)
	if got := list(signal.Recent, "fashion", 3); got != "4@-1 2@10 2@11 " {
		t.Errorf("with a new call: %s", got)
	}
	// The markets of the category are not read if the newest calls of all are enough.
	plan := b.planOf(func(q *db.Queries) {
		_, _ = q.ListSignalsOfCategory(t.Context(), db.ListSignalsOfCategoryParams{Limit: 3, Category: "sport"})
	})
	if !strings.Contains(plan, "never executed") {
		t.Errorf("every market of a frequent category is read:\n%s", plan)
	}
}
