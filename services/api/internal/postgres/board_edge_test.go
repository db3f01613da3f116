package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// sampleOf computes the statistical sample of an operator's counted calls on venue markets in a lane, from stored calls and
// results.
func (b *bundle) sampleOf(handle, lane string) *skill.Sample {
	b.t.Helper()
	rows, err := b.admin.Query(b.t.Context(), `SELECT coalesce(r.basis_bps, s.score_basis_bps), coalesce(s.confidence, 0), r.status = 'won'
		FROM api.signals s JOIN api.signal_results r ON r.signal_id = s.id JOIN api.users u ON u.id = s.user_id
		WHERE u.handle = $1 AND ($2 = '' OR r.scoring_vertical = $2) AND r.counted AND s.market_id NOT LIKE 'native-%'`, handle, lane)
	if err != nil {
		b.t.Fatal(err)
	}
	sample := new(skill.Sample)
	var c skill.Call
	if _, err := pgx.ForEachRow(rows, []any{&c.Price, &c.Confidence, &c.Won}, func() error { return sample.Add(c) }); err != nil {
		b.t.Fatal(err)
	}
	return sample
}

// compareEdges compares the boards by edge with edges that are computed from the stored results. FoldBoards and FoldEdges
// must have processed all changes before.
func (l *ledger) compareEdges() {
	l.t.Helper()
	svc := board.NewService(l.Store, l.clock.Now)
	for _, lane := range append([]string{""}, boardLanes...) {
		for _, g := range []board.Group{board.All, board.Human, board.Independent} {
			type row struct {
				handle string
				edge   board.Edge
			}
			var list []row
			for _, n := range l.naive(lane) {
				if r, some := l.sampleOf(n.handle, lane).Report(); some && slices.Contains(g.Tiers(), n.tier) {
					list = append(list, row{n.handle, board.Edge{Calls: r.Calls, EdgeBps: r.EdgeBps, LowBps: r.LowBps, HighBps: r.HighBps}})
				}
			}
			slices.SortFunc(list, func(a, b row) int {
				return cmp.Or(cmp.Compare(b.edge.LowBps, a.edge.LowBps), cmp.Compare(b.edge.EdgeBps, a.edge.EdgeBps),
					cmp.Compare(b.edge.Calls, a.edge.Calls), cmp.Compare(a.handle, b.handle))
			})
			got := must(svc.Board(l.t.Context(), board.ByEdge, g, lane, 100))(l.t)
			edges := map[string]board.Edge{}
			for i, r := range got {
				edges[r.Operator.Handle] = r.Edge
				if i >= len(list) || (row{r.Operator.Handle, r.Edge}) != list[i] || r.Rank != i+1 {
					l.t.Fatalf("board of %s, lane %q: %d is %s %+v, want %+v", g, lane, i, r.Operator.Handle, r.Edge, list)
				}
			}
			if len(got) != len(list) {
				l.t.Fatalf("board of %s, lane %q: %d rows of %d", g, lane, len(got), len(list))
			}
			for _, r := range must(svc.Board(l.t.Context(), board.ByScore, g, lane, 100))(l.t) {
				if r.Edge != edges[r.Operator.Handle] {
					l.t.Fatalf("%s has %+v by score and %+v by edge", r.Operator.Handle, r.Edge, edges[r.Operator.Handle])
				}
			}
		}
	}
}

// TestMomentsOfEveryPrice checks the tier of the moment for a won call at every price, and that only verified calls have a
// moment.
func TestMomentsOfEveryPrice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.venueMarket("100", 5000)
	b.seedSignals(t.Context(), "100", 20002)
	b.nativeMarket("native-unverified", 5000)
	b.exec(`INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, source)
		SELECT gen_random_uuid(), 'native-unverified', id, true, 400, 400, false, now(), 'seed', 'web' FROM api.users`)
	b.exec(`INSERT INTO api.market_totals (market_id, yes, no) VALUES ('native-unverified', 20002, 0)`)
	b.exec(`UPDATE api.operator_totals SET total = 2`)
	for _, id := range []string{"100", "native-unverified"} {
		b.claim(id, protocol.VerdictYes)
	}
	rows, err := b.admin.Query(t.Context(), `SELECT s.score_basis_bps, s.yes, s.price_verified, m.tier, m.score FROM api.signals s LEFT JOIN api.moments m ON m.signal_id = s.id AND m.odds_bps = s.score_basis_bps`)
	if err != nil {
		t.Fatal(err)
	}
	tier := func(basis protocol.Bps) string {
		for _, t := range []struct {
			to   protocol.Bps
			name string
		}{{500, "LEGENDARY"}, {1000, "EPIC"}, {2000, "RARE"}, {3500, "UNCOMMON"}, {5000, "COMMON"}} {
			if basis <= t.to {
				return t.name
			}
		}
		return ""
	}
	var basis protocol.Bps
	var yes, verified bool
	var minted *string
	var points *int
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&basis, &yes, &verified, &minted, &points}, func() error {
		want := tier(basis)
		if !yes || !verified {
			want = ""
		}
		if (minted == nil) != (want == "") || minted != nil && (*minted != want || *points != scoreOf(protocol.Yes, basis, protocol.VerdictYes, nil).Score) {
			return fmt.Errorf("at %d, yes %v, verified %v: %v, want %q", basis, yes, verified, minted, want)
		}
		n++
		return nil
	})
	if err != nil || n != 40004 {
		t.Errorf("compared %d calls: %v", n, err)
	}
}

// TestVerifyFindsEveryDifference changes each stored value that Verify recomputes, and checks that Verify reports the
// change.
func TestVerifyFindsEveryDifference(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 8, 9)
	s := l.service()
	for range 300 {
		l.step(s)
	}
	l.venueMarket("900", 2500)
	l.fileCounted(l.hashes[0], "900", protocol.Yes, 2500)
	l.claim("900", protocol.VerdictYes)
	l.settle()
	l.verify("before")
	for name, sql := range map[string]string{
		"moments":              `ALTER TABLE api.moments DISABLE TRIGGER ALL; UPDATE api.moments SET score = score - 1 WHERE signal_id = (SELECT signal_id FROM api.moments LIMIT 1)`,
		"records":              `UPDATE api.operator_scores SET streak = streak + 1 WHERE user_id = (SELECT user_id FROM api.operator_scores LIMIT 1)`,
		"operator_tallies":     `UPDATE api.operator_tallies SET wins = wins + 1 WHERE ctid = (SELECT min(ctid) FROM api.operator_tallies)`,
		"board_field":          `UPDATE api.board_field SET operators = operators + 1 WHERE ctid = (SELECT min(ctid) FROM api.board_field)`,
		"board_rows edge":      `UPDATE api.board_rows SET low_bps = low_bps + 1 WHERE ctid = (SELECT min(ctid) FROM api.board_rows WHERE skill_calls > 0)`,
		"board_rows":           `UPDATE api.board_rows SET viewer_minutes = viewer_minutes + 1 WHERE ctid = (SELECT min(ctid) FROM api.board_rows)`,
		"operator_scores":      `UPDATE api.operator_scores SET price_sum = price_sum + 1 WHERE ctid = (SELECT min(ctid) FROM api.operator_scores)`,
		"operator_lane_scores": `UPDATE api.operator_lane_scores SET price_sum = price_sum + 1 WHERE ctid = (SELECT min(ctid) FROM api.operator_lane_scores)`,
	} {
		for _, one := range strings.Split(sql, "; ") {
			l.exec(one)
		}
		list := must(Verify(t.Context(), l.rw))(t)
		if !slices.ContainsFunc(list, func(d Difference) bool { return d.Counter == name }) {
			t.Errorf("change of %s: %+v", name, list)
		}
	}
}

// TestAnEdgeOfTooManyCalls checks that FoldEdges leaves the edge of a record with too many calls unchanged and processes the
// other records.
func TestAnEdgeOfTooManyCalls(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 12, 2)
	l.venueMarket("900", 2500)
	l.markets = []string{"900"}
	for _, hash := range l.hashes {
		l.fileCounted(hash, "900", protocol.Yes, 2500)
	}
	l.claim("900", protocol.VerdictYes)
	l.settle()
	l.exec(`UPDATE api.operator_tallies SET calls = $1 WHERE user_id = (SELECT id FROM api.users WHERE handle = 'op0')`, skill.MaxCalls+1)
	l.exec(`UPDATE api.board_rows SET edge_bps = 1`)
	l.exec(`INSERT INTO api.board_due (user_id, lane) SELECT user_id, lane FROM api.board_rows`)
	if done, err := l.FoldEdges(t.Context(), 10, board.MeasureEdge); err != nil || !done {
		t.Fatalf("fold of edges: done %v, %v", done, err)
	}
	for handle, want := range map[string]int{"op0": 1, "op1": 7500} {
		if got := l.count(`SELECT b.edge_bps FROM api.board_rows b JOIN api.users u ON u.id = b.user_id WHERE u.handle = $1 AND b.lane = ''`, handle); got != want {
			t.Errorf("edge of %s is %d, want %d", handle, got, want)
		}
	}
	if n := l.count(`SELECT count(*) FROM api.board_due`); n != 0 {
		t.Errorf("%d rows are still due", n)
	}
}
