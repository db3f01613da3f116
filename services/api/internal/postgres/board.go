package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// ListBoard implements board.Store.
func (s *Store) ListBoard(ctx context.Context, by string, q board.Query, month time.Time) ([]board.Row, error) {
	if by == board.ByEdge {
		rows, err := s.q.ListEdgeBoard(ctx, db.ListEdgeBoardParams{Tiers: q.Tiers, Lane: q.Lane, Limit: int32(q.Limit), Month: month})
		return pg.Collect(rows, func(r db.ListEdgeBoardRow) board.Row {
			return boardRowOf(db.ListBoardRow(r))
		}), pg.Fault(wrap("list board of edges", err))
	}
	rows, err := s.q.ListBoard(ctx, db.ListBoardParams{By: by, Tiers: q.Tiers, Lane: q.Lane, Limit: int32(q.Limit), Month: month})
	return pg.Collect(rows, boardRowOf), pg.Fault(wrap("list board", err))
}

func boardRowOf(r db.ListBoardRow) board.Row {
	return board.Row{
		Operator: operatorOf(r.User), Score: r.Score, Total: r.Total, Won: r.Won, Lost: r.Lost,
		Pending: r.Total - r.Won - r.Lost - r.Void, Accuracy: resolution.Accuracy(r.Won, r.Lost),
		Edge: edgeOf(r.SkillCalls, r.EdgeBps, r.LowBps, r.HighBps),
		Broadcast: board.Broadcast{
			Score: int(r.Broadcast), Calls28: r.Calls, Takes28: r.Takes, WindowScore: r.WindowScore, WindowDone: r.WindowDone,
			ViewerMinutes28: r.ViewerMinutes,
		},
	}
}

func edgeOf(calls int64, edge, low, high int32) board.Edge {
	return board.Edge{Calls: calls, EdgeBps: int(edge), LowBps: int(low), HighBps: int(high)}
}

// Record returns the number of calls of one operator by status, and the sum of its points. The values are zero for an
// operator without calls.
func (s *Store) Record(ctx context.Context, userID string) (board.Record, error) {
	row, err := s.q.CountSignalsOfOperator(ctx, userID)
	return board.Record(row), pg.Fault(wrap("count signals of operator", err))
}

// FoldBoards adds at most the given number of feed events to the stored rows of the leaderboards. It also moves the start of
// their 28-day window forward, but not past the time month. Reads of a leaderboard include events that are not added yet, so
// FoldBoards does not change the result of a read. done is true if nothing is left to do, or if another process is updating
// the leaderboards.
func (s *Store) FoldBoards(ctx context.Context, rows int, month time.Time) (done bool, err error) {
	return s.fold(ctx, func(q *db.Queries) (done bool, err error) {
		plan, err := q.PlanBoards(ctx, db.PlanBoardsParams{Most: int64(rows), Month: month})
		if err != nil {
			return false, fmt.Errorf("plan boards: %w", err)
		}
		// The rows are stored first because their values depend on the present window, which AgeBoards moves.
		if err := q.FoldBoardRows(ctx, db.FoldBoardRowsParams{Seq: plan.Seq, Since: plan.Since}); err != nil {
			return false, fmt.Errorf("fold boards: %w", err)
		}
		if err := q.MarkEdgesDue(ctx, plan.Seq); err != nil {
			return false, fmt.Errorf("mark edges: %w", err)
		}
		return plan.Done, wrap("age boards", q.AgeBoards(ctx, db.AgeBoardsParams{Seq: plan.Seq, Since: plan.Since}))
	})
}

// fold calls the function do in a transaction that holds the database lock of the leaderboards. If another process holds the
// lock, fold does not call the function and returns done = true.
func (s *Store) fold(ctx context.Context, do func(*db.Queries) (done bool, err error)) (done bool, err error) {
	err = inTx(ctx, s.pool, func(q *db.Queries) error {
		locked, err := q.LockBoards(ctx)
		if err != nil {
			return fmt.Errorf("lock boards: %w", err)
		}
		if done = !locked; locked {
			done, err = do(q)
		}
		return err
	})
	return done, err
}

// FoldEdges calls the function compute for at most the given number of leaderboard rows whose results have changed, and
// stores the returned statistical edges. It skips a row for which compute returns skill.ErrCount. An operator whose whole record
// shows skill for the first time gets a notice. done is true if no changed row is left, or if another process is updating the
// leaderboards.
func (s *Store) FoldEdges(ctx context.Context, rows int, compute func([]skill.Tally) (board.Edge, error)) (done bool, err error) {
	return s.fold(ctx, func(q *db.Queries) (done bool, err error) {
		due, err := q.TakeEdgesDue(ctx, int32(rows))
		if err != nil {
			return false, fmt.Errorf("take due rows: %w", err)
		}
		if len(due) == 0 {
			return true, nil
		}
		tallies, err := readTallies(ctx, q, due)
		if err != nil {
			return false, err
		}
		var p db.StoreEdgesParams
		var skilled []string
		for i, row := range due {
			e, err := compute(tallies[i])
			if errors.Is(err, skill.ErrCount) {
				continue // the row keeps its last edge, because it has too many calls for the computation
			}
			if err != nil {
				return false, fmt.Errorf("compute edge of operator %s, lane %q: %w", row.UserID, row.Lane, err)
			}
			p.UserIDs, p.Lanes, p.Calls = append(p.UserIDs, row.UserID), append(p.Lanes, row.Lane), append(p.Calls, e.Calls)
			p.Edges, p.Lows = append(p.Edges, int32(e.EdgeBps)), append(p.Lows, int32(e.LowBps))
			p.Highs = append(p.Highs, int32(e.HighBps))
			if row.Lane == "" && e.ShowsSkill() {
				skilled = append(skilled, row.UserID)
			}
		}
		if err := q.StoreEdges(ctx, p); err != nil {
			return false, fmt.Errorf("store edges: %w", err)
		}
		return len(due) < rows, storeSkilled(ctx, q, skilled, s.now().UTC())
	})
}

// storeSkilled stores that the calls of operators show skill. Those who had not shown it before get a notice.
func storeSkilled(ctx context.Context, q *db.Queries, ids []string, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	fresh, err := q.InsertSkilled(ctx, db.InsertSkilledParams{UserIDs: ids, Now: now})
	if err != nil || len(fresh) == 0 {
		return wrap("store skilled operators", err)
	}
	return wrap("store notices", q.InsertSkillNotices(ctx, db.InsertSkillNoticesParams{UserIDs: fresh, Now: now}))
}

// readTallies returns one list of tallies for each of the given leaderboard rows, in the same order.
func readTallies(ctx context.Context, q *db.Queries, of []db.BoardDue) ([][]skill.Tally, error) {
	var p db.ListTalliesOfRowsParams
	for _, row := range of {
		p.UserIDs, p.Lanes = append(p.UserIDs, row.UserID), append(p.Lanes, row.Lane)
	}
	rows, err := q.ListTalliesOfRows(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read tallies: %w", err)
	}
	out := make([][]skill.Tally, len(of))
	for _, r := range rows {
		t := skill.Tally{Price: protocol.Bps(r.PriceBps), Confidence: int(r.Confidence), Calls: r.Calls, Wins: r.Wins}
		out[r.N-1] = append(out[r.N-1], t)
	}
	return out, nil
}

// pulseBudget is the timeout of each statement that reads the totals or the weeks of the pulse (site-wide statistics).
const pulseBudget = 10 * time.Second

// PulseTotals implements board.Store.
func (s *Store) PulseTotals(ctx context.Context, now time.Time) (board.Totals, error) {
	p, err := db.New(pg.Bound(s.pool, pulseBudget)).GetPulse(ctx, now)
	if err != nil {
		return board.Totals{}, pg.Fault(fmt.Errorf("count the pulse: %w", err))
	}
	return board.Totals{
		Signals: p.Signals, Independent: p.Independent, House: p.House, Automated: p.Automated, Last7: p.Last7, Prev7: p.Prev7,
		IndependentOperators: p.Operators, IndependentActive28: p.Active28, HouseOperators: p.Houses, Registered: p.Registered,
		Markets: p.Markets, Won: p.Won, Lost: p.Lost, Open: p.Open, CLVCount: p.Clv, BeatLine: p.Beat,
	}, nil
}

// PulsePrices implements board.Store.
func (s *Store) PulsePrices(ctx context.Context) ([]board.PriceRange, error) {
	rows, err := db.New(pg.Bound(s.pool, pulseBudget)).CountPrices(ctx)
	return pg.Collect(rows, func(r db.CountPricesRow) board.PriceRange {
		return board.PriceRange{Calls: r.Calls, Wins: r.Wins, Price: protocol.Bps(r.SumBps / r.Calls)}
	}), pg.Fault(wrap("count prices", err))
}

// PulseWeeks implements board.Store.
func (s *Store) PulseWeeks(ctx context.Context, first, now time.Time) (weeks map[int]board.Week, last *time.Time, claims int64, err error) {
	q := db.New(pg.Bound(s.pool, pulseBudget))
	activity, err := q.GetLastActivity(ctx, now)
	if err != nil {
		return nil, nil, 0, pg.Fault(fmt.Errorf("read last activity: %w", err))
	}
	rows, err := q.CountWeeks(ctx, db.CountWeeksParams{First: first, Now: now})
	if err != nil {
		return nil, nil, 0, pg.Fault(fmt.Errorf("count weeks: %w", err))
	}
	return indexed(rows, func(r db.CountWeeksRow) (int, board.Week) {
		return int(r.Week), board.Week{Independent: r.Independent, House: r.House, Automated: r.Automated, ActiveIndependent: r.Active}
	}), activity.Last, activity.Claims, nil
}
