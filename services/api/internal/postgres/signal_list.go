package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// edge is a place between calls, newest first.
type edge struct {
	at time.Time
	id string
}

// The places before all calls and behind them.
var (
	newestEdge = edge{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "ffffffff-ffff-ffff-ffff-ffffffffffff"}
	oldestEdge = edge{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "00000000-0000-0000-0000-000000000000"}
)

// ListCalls implements signal.Calls.
func (s *Store) ListCalls(ctx context.Context, q signal.CallQuery) (signal.CallPage, error) {
	from := newestEdge
	if t, ok := q.After.Time(0); ok && isUUID(q.After.ID) {
		from = edge{t, q.After.ID}
	}
	kind, only := "", []any{}
	switch {
	case q.MarketID != "":
		kind, only = "_market", []any{q.MarketID}
	case q.Handle != "":
		kind, only = "_user", []any{q.Handle}
	}
	to, more := oldestEdge, false
	if q.Lane != "" || q.Status != "" { // else the first calls of all are the page
		var err error
		if to, more, err = s.look(ctx, "signal_window"+kind, append([]any{from.at, from.id, signal.MaxLook}, only...)); err != nil {
			return signal.CallPage{}, err
		}
	}
	args := []any{from.at, from.id, to.at, to.id, q.Limit, q.Lane, string(q.Status), q.Handle}
	if q.MarketID != "" {
		args = append(args, q.MarketID)
	}
	if q.Own {
		kind = "_own"
	}
	var p signal.CallPage
	var err error
	if p.Signals, err = s.records(ctx, "signal_list"+kind, args...); err != nil {
		return signal.CallPage{}, err
	}
	switch n := len(p.Signals); {
	case n == q.Limit && n > 0:
		last := p.Signals[n-1]
		p.Next = syntax.NewCursor(last.ID, syntax.TimeKey(last.CreatedAt)).Encode()
	case more:
		p.Next = syntax.NewCursor(to.id, syntax.TimeKey(to.at)).Encode()
	}
	return p, nil
}

// look finds where a look ends, and whether there may be calls behind it.
func (s *Store) look(ctx context.Context, name string, args []any) (end edge, more bool, err error) {
	err = s.reads.QueryRow(ctx, query(name), args...).Scan(&end.at, &end.id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return oldestEdge, false, nil
	case err != nil:
		return edge{}, false, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return end, true, nil
}

// ListLaneStats implements signal.Calls.
func (s *Store) ListLaneStats(ctx context.Context, userID string) ([]signal.LaneStats, error) {
	rows, err := s.reads.Query(ctx, query("lane_stats"), userID)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("lane_stats: %w", err))
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l signal.LaneStats, err error) {
		var sum, n int64
		err = row.Scan(&l.Lane, &l.Total, &l.Won, &l.Lost, &l.Void, &l.Score, &l.Streak, &sum, &n)
		l.AvgCLV = record.Mean(sum, n)
		return l, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("lane_stats: %w", err))
	}
	return out, nil
}
