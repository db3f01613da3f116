package postgres

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// naive is a query that computes a board from the stored calls and results only, without any read model.
const naive = `
SELECT u.handle, u.tier,
    (SELECT count(*) FROM api.signals s LEFT JOIN api.markets m USING (market_id) WHERE s.user_id = u.id AND ($1 = '' OR m.lane = $1)),
    coalesce(sum(r.score) FILTER (WHERE r.counted), 0), count(*) FILTER (WHERE r.status = 'won'), count(*) FILTER (WHERE r.status = 'lost'),
    (SELECT count(*) FROM api.signals s WHERE s.user_id = u.id AND s.created_at >= $2),
    (SELECT count(*) FROM api.signal_events e JOIN api.signals s ON s.id = e.signal_id WHERE s.user_id = u.id AND e.type = 'take' AND e.created_at >= $2)
        + (SELECT count(*) FROM api.signals s WHERE s.user_id = u.id AND s.text_take <> '' AND s.created_at >= $2),
    coalesce(sum(r.score) FILTER (WHERE r.counted AND r.resolved_at >= $2), 0),
    count(*) FILTER (WHERE r.counted AND r.resolved_at >= $2), count(*) FILTER (WHERE r.counted),
    (SELECT coalesce(sum(v.viewer_seconds), 0)::bigint FROM api.viewer_reports v WHERE v.user_id = u.id AND v.at >= $2)
FROM api.users u LEFT JOIN api.signal_results r ON r.user_id = u.id AND ($1 = '' OR r.scoring_vertical = $1)
WHERE EXISTS (SELECT FROM api.signals s WHERE s.user_id = u.id)
GROUP BY u.id HAVING $1 = '' OR count(r.signal_id) > 0 OR EXISTS (
    SELECT FROM api.signals s JOIN api.markets m USING (market_id) LEFT JOIN api.signal_results x ON x.signal_id = s.id
    WHERE s.user_id = u.id AND m.lane = $1 AND x.signal_id IS NULL)`

// castScore returns the broadcast score of docs/scores.md. score and done are the points and the number of the counted calls, and
// calls, takes and minutes are the numbers of all calls, takes and viewer minutes of 28 days.
func castScore(score, done, calls, takes, minutes int64) int {
	skill := min(1, max(0, 0.5+float64(score)/float64(50*(done+10))))
	activity := min(1, (float64(calls)+float64(takes)/2)/28)
	reach := min(1, math.Round(1e9*math.Log10(float64(1+minutes)))/1e9/5)
	// The conversions force each product to be rounded separately, so that the result is the same on every machine.
	return int(math.Round(float64(500*skill) + float64(300*activity) + float64(200*reach)))
}

type naiveRow struct {
	handle, tier                 string
	total, score, won, lost      int64
	calls, takes, mscore, mdone  int64
	counted, viewers             int64
	castAll, castMonth, accuracy int
}

func (l *ledger) naive(lane string) []naiveRow {
	l.t.Helper()
	rows := must(l.admin.Query(l.t.Context(), naive, lane, l.month()))(l.t)
	defer rows.Close()
	var list []naiveRow
	for rows.Next() {
		var r naiveRow
		if err := rows.Scan(&r.handle, &r.tier, &r.total, &r.score, &r.won, &r.lost, &r.calls, &r.takes, &r.mscore, &r.mdone, &r.counted, &r.viewers); err != nil {
			l.t.Fatal(err)
		}
		r.viewers /= 60
		r.castAll = castScore(r.score, r.counted, r.calls, r.takes, r.viewers)
		r.castMonth = castScore(r.mscore, r.mdone, r.calls, r.takes, r.viewers)
		r.accuracy = resolution.Accuracy(r.won, r.lost)
		list = append(list, r)
	}
	if rows.Err() != nil {
		l.t.Fatal(rows.Err())
	}
	return list
}

// compare compares every board with the result of the query naive. when names the situation in the error message.
func (l *ledger) compare(when string) {
	l.t.Helper()
	svc := board.NewService(l.Store, l.clock.Now)
	for _, lane := range append([]string{""}, boardLanes...) {
		all := l.naive(lane)
		for _, g := range []board.Group{board.All, board.Human, board.Independent, board.House, board.Automated} {
			for _, kind := range []string{board.ByScore, board.ByBroadcast, board.ByBroadcast28} {
				limit := []int{3, 100}[l.rnd.IntN(2)]
				want := expected(all, g, kind, limit)
				rows := must(svc.Board(l.t.Context(), kind, g, lane, limit))(l.t)
				var got []string
				for _, r := range rows {
					cast, c := "", r.Broadcast
					if kind != board.ByScore {
						cast = fmt.Sprint(" ", c.Score, c.Calls28, c.Takes28, c.ViewerMinutes28)
					}
					got = append(got, fmt.Sprint(r.Operator.Handle, " ", r.Operator.Tier, r.Score, r.Total, r.Won, r.Lost, r.Accuracy, cast))
				}
				for _, r := range rows {
					record, err := svc.Record(l.t.Context(), r.Operator.ID)
					void := r.Total - r.Won - r.Lost - r.Pending
					if whole := (board.Record{Total: r.Total, Won: r.Won, Lost: r.Lost, Void: void, Score: r.Score}); lane == "" && (err != nil || record != whole) {
						l.t.Fatalf("%s, record of %s: %+v %v, on the board %+v", when, r.Operator.Handle, record, err, whole)
					}
				}
				if !slices.Equal(got, want) {
					l.t.Fatalf("%s, board %s of %s, lane %q:\n got %q\nwant %q", when, kind, g, lane, got, want)
				}
			}
		}
	}
}

func expected(all []naiveRow, g board.Group, kind string, limit int) (want []string) {
	var list []naiveRow
	for _, r := range all {
		if slices.Contains(g.Tiers(), r.tier) {
			list = append(list, r)
		}
	}
	cast := func(r naiveRow) int {
		return map[string]int{board.ByBroadcast: r.castAll, board.ByBroadcast28: r.castMonth}[kind]
	}
	slices.SortFunc(list, func(a, b naiveRow) int {
		accuracy := 0
		if kind == board.ByScore {
			accuracy = cmp.Compare(b.accuracy, a.accuracy)
		}
		return cmp.Or(cmp.Compare(cast(b), cast(a)), cmp.Compare(b.score, a.score), cmp.Compare(b.won+b.lost, a.won+a.lost),
			accuracy, cmp.Compare(a.handle, b.handle))
	})
	for _, r := range list[:min(limit, len(list))] {
		tail := ""
		if kind != board.ByScore {
			tail = fmt.Sprint(" ", cast(r), r.calls, r.takes, r.viewers)
		}
		want = append(want, fmt.Sprint(r.handle, " ", protocol.Tier(r.tier), r.score, r.total, r.won, r.lost, r.accuracy, tail))
	}
	return want
}
