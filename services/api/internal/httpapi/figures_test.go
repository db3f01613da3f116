package httpapi_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLaneFigures checks the statistics of an operator by lane. A lost call ends a streak. A void call, a pending call and a
// lost call in another lane do not.
func TestLaneFigures(t *testing.T) {
	t.Parallel()
	b := callsBundle(t)
	key, mara, _ := b.keyWith("mara", "read")
	for n, r := range []struct {
		status, lane string
		clv          any
	}{
		{"won", "CRYPTO", 10}, {"lost", "CRYPTO", -16}, {"won", "CRYPTO", 1}, {"void", "CRYPTO", nil}, {"won", "CRYPTO", nil}, {"lost", "MUSIC", nil}, {"", "CRYPTO", nil}, {"", "SCIENCE", nil},
	} {
		id := "4" + strconv.Itoa(n)
		b.market(id, "SCIENCE") // the result keeps the lane that the market had when it was resolved
		call := b.call(mara, id, "", n+1)
		if r.status == "" {
			b.exec("UPDATE api.markets SET lane = $2 WHERE market_id = $1", id, r.lane)
			continue
		}
		score := map[string]int{"won": 60, "lost": -40}[r.status]
		b.exec(`INSERT INTO api.signal_results (signal_id, event_id, user_id, status, score, clv_bps, beat_crowd, scoring_version, scoring_vertical, resolved_at, counted)
			VALUES ($1, gen_random_uuid(), $2, $3, $4, $5, false, '1.1', $6, now() + $7 * interval '1 second', $3 <> 'void')`, call, mara, r.status, score, r.clv, r.lane, n)
	}
	got := b.get("/api/v1/users/mara/stats", "Authorization", "Bearer "+key)
	figures := func(lane string, total, won, lost, void, pending, accuracy, score, streak float64, clv any) map[string]any {
		return map[string]any{
			"lane": lane, "total": total, "won": won, "lost": lost, "void": void, "pending": pending, "resolved": won + lost,
			"accuracy": accuracy, "score": score, "streak": streak, "avgClvBps": clv,
		}
	}
	want := []any{
		figures("CRYPTO", 6, 3, 1, 1, 1, 75, 140, 2, -2.0), // -5/3
		figures("MUSIC", 1, 0, 1, 0, 0, 0, -40, 0, nil), figures("SCIENCE", 1, 0, 0, 0, 1, 0, 0, 0, nil),
	}
	if diff := cmp.Diff(any(want), got.body["lanes"]); got.status != 200 || diff != "" {
		t.Errorf("%d (-want +got):\n%s", got.status, diff)
	}
}

// TestCallPages checks the default and the maximum number of calls in a page.
func TestCallPages(t *testing.T) {
	t.Parallel()
	b := callsBundle(t)
	key, mara, _ := b.keyWith("mara", "read")
	for n := range 103 {
		id := "5" + strconv.Itoa(n)
		b.market(id, "SCIENCE")
		b.call(mara, id, "", n+1)
	}
	for path, as := range map[string][]string{"/api/v1/signals": nil, "/api/v1/users/mara/signals": {"Authorization", "Bearer " + key}} {
		for query, want := range map[string]int{"": 20, "?limit=30": 30, "?limit=101": 100} {
			if a := b.get(path+query, as...); a.status != 200 || len(strings.Fields(ids(a))) != want {
				t.Errorf("%s%s: %d, %d calls, want %d", path, query, a.status, len(strings.Fields(ids(a))), want)
			}
		}
	}
}
