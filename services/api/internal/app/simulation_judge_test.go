package app

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
)

// result is one stored call of the simulation and its result.
type result struct {
	game   *game
	by     string
	side   protocol.Side
	status protocol.SignalStatus
	// counted is true if the score of the call is part of the operator's points.
	counted bool
	basis   int       // scoring price, bps
	score   int       // points
	priced  time.Time // time of the newest quote from which the scoring price was computed
}

// results contains the stored calls of one strategy.
type results []result

// counted returns the calls whose score is part of the points.
func (rs results) counted() results {
	return slices.DeleteFunc(slices.Clone(rs), func(r result) bool { return !r.counted })
}

// String returns the numbers of the calls and the mean score as text.
func (rs results) String() string {
	void := 0
	for _, r := range rs {
		if r.status == protocol.Void {
			void++
		}
	}
	mean, se := rs.mean()
	return fmt.Sprintf("%d stored, %d counted, %d void, mean %+.2f (SE %.2f)", len(rs), len(rs.counted()), void, mean, se)
}

// mean returns the mean score of the counted calls, and the standard error that it would have if every price were right. Calls
// on the same market have the same outcome, so the error is computed from the sum of each market.
func (rs results) mean() (mean, se float64) {
	sums := map[*game]float64{} // what YES pays more than NO, in points
	for _, r := range rs.counted() {
		mean += float64(r.score)
		sums[r.game] += map[protocol.Side]float64{protocol.Yes: 100, protocol.No: -100}[r.side]
	}
	variance := 0.0
	for g, sum := range sums {
		p := float64(g.yes()) / 10_000
		variance += sum * sum * p * (1 - p)
	}
	n := math.Max(1, float64(len(rs)))
	return mean / n, math.Sqrt(variance) / n
}

// results reads the stored calls of a strategy from the database. prefix is the prefix of its operators' handles.
func (w *world) results(prefix string, games []*game) results {
	byID := map[string]*game{}
	for _, g := range games {
		byID[string(g.id)] = g
	}
	rows, err := w.db.Query(w.t.Context(), `
		SELECT s.market_id, s.user_id::text, s.yes, r.status, r.counted, r.score,
			coalesce(r.basis_bps, s.score_basis_bps), coalesce(r.confirmed_at, s.quote_at, s.created_at)
		FROM api.signals AS s JOIN api.users AS u ON u.id = s.user_id JOIN api.signal_results AS r ON r.signal_id = s.id
		WHERE u.handle LIKE $1`, prefix+`\_%`)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	var out results
	for rows.Next() {
		var r result
		var id string
		var yes bool
		if err := rows.Scan(&id, &r.by, &yes, &r.status, &r.counted, &r.score, &r.basis, &r.priced); err != nil {
			w.t.Fatal(err)
		}
		r.game, r.side = byID[id], protocol.No
		if yes {
			r.side = protocol.Yes
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// judge checks that the share of counted calls of a strategy is in its range. For a strategy without extra knowledge, it also
// checks that its calls gain no points.
func (w *world) judge(s strategy, players []player, rs results) {
	if share := float64(len(rs.counted())) / math.Max(1, float64(len(rs))); share < s.counts[0] || share > s.counts[1] {
		w.t.Errorf("%s: %.0f %% of the stored calls count; want %.0f to %.0f %%", s.id, 100*share, 100*s.counts[0], 100*s.counts[1])
	}
	if s.informed {
		return
	}
	worst, bad := 0, 0
	for _, r := range rs.counted() {
		if gain := chance(r.side, r.game.yesAt(r.priced)) - r.basis; gain > 0 {
			worst, bad = max(worst, gain), bad+1
		}
	}
	if bad > 0 {
		w.t.Errorf("%s: %d of %d calls have an expected score above 0, the largest %.2f points; want none", s.id, bad, len(rs), float64(worst)/100)
	}
	if mean, se := rs.mean(); mean > 3*se {
		w.t.Errorf("%s: the mean score is %+.2f, %.1f standard errors above 0; want at most 3", s.id, mean, mean/se)
	}
	skilled, n := 0, float64(len(players))
	for _, low := range rs.lowerEnds(w.t) {
		if low > 0 {
			skilled++
		}
	}
	if limit := 0.05 + 3*math.Sqrt(0.05*0.95/n); float64(skilled)/n > limit {
		w.t.Errorf("%s: %d of %d operators appear skilled; want at most %.1f %%", s.id, skilled, len(players), 100*limit)
	}
}

// lowerEnds returns, by operator, the lower bound of the measured edge in bps (docs/method.md). With a bound above 0, the
// operator appears skilled.
func (rs results) lowerEnds(t *testing.T) map[string]int {
	t.Helper()
	samples := map[string]*skill.Sample{}
	for _, r := range rs.counted() {
		if samples[r.by] == nil {
			samples[r.by] = &skill.Sample{}
		}
		if c, ok := skill.Decided(r.status, protocol.Bps(r.basis), 0); ok {
			if err := samples[r.by].Add(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := map[string]int{}
	for by, s := range samples {
		if report, some := s.Report(); some {
			out[by] = report.LowBps
		}
	}
	return out
}

// judgeInformed requires that operators who know a quarter of the outcomes are detected. Of all operators, they must have the
// highest lower bounds of the edge. The number of them that appear skilled must be about as large as the true probabilities
// predict.
func (w *world) judgeInformed(all map[string]results) {
	type place struct {
		strategy string
		low      int
	}
	var board []place
	for id, rs := range all {
		for _, low := range rs.lowerEnds(w.t) {
			board = append(board, place{id, low})
		}
	}
	slices.SortFunc(board, func(a, b place) int { return cmp.Compare(b.low, a.low) })
	first := 0
	for _, p := range board[:10] {
		if p.strategy == "informed" {
			first++
		}
	}
	if first < 9 {
		w.t.Errorf("%d of the first 10 operators are informed; want at least 9", first)
	}
	count := func(rs results) (n int) {
		for _, low := range rs.lowerEnds(w.t) {
			if low > 0 {
				n++
			}
		}
		return n
	}
	rs := all["informed"]
	fair := slices.Clone(rs)
	for i, r := range fair {
		fair[i].basis = chance(r.side, r.game.path[0].yes)
	}
	found, before := count(rs), count(fair)
	w.t.Logf("%d of %d informed operators appear skilled, %d at the true probabilities", found, simPlayers, before)
	if found*3 < before*2 || found < simPlayers/10 {
		w.t.Errorf("%d informed operators appear skilled, %d at the true probabilities; want at least two thirds of them and a tenth of all", found, before)
	}
}

// judgeSums compares the points of every operator with the sum of the operator's counted scores.
func (w *world) judgeSums() {
	if n := w.count(`
		SELECT count(*) FROM api.operator_scores AS o
		JOIN api.users AS u ON u.id = o.user_id AND u.issuer = 'seed'
		LEFT JOIN (SELECT user_id, sum(score) AS points FROM api.signal_results WHERE counted GROUP BY user_id) AS r USING (user_id)
		WHERE o.score <> coalesce(r.points, 0)`); n > 0 {
		w.t.Errorf("%d operators have points that differ from the sum of their calls that count", n)
	}
}
