package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/digest"
)

// dayTime is how long the reads of a day may take, which go over all of its rows.
const dayTime = 30 * time.Second

// Day implements digest.Store. The parts are read one after the other: what happens
// between them may be in one and not in the next.
func (s *Store) Day(ctx context.Context, w digest.Window) (digest.Day, error) {
	ctx, cancel := context.WithTimeout(ctx, dayTime)
	defer cancel()
	var d digest.Day
	err := s.pool.QueryRow(ctx, query("digest_totals"), w.From, w.To).Scan(&d.Signals, &d.Won, &d.Lost, &d.Void, &d.NewOperators)
	if err == nil {
		err = s.pool.QueryRow(ctx, query("digest_pulse"), w.To, w.Week).Scan(
			&d.Pulse.Last7, &d.Pulse.Prev7, &d.Pulse.WeekSignals, &d.Pulse.WeekOperators)
	}
	if err == nil {
		d.TopCalls, err = s.topCalls(ctx, w)
	}
	if err == nil {
		var rows pgx.Rows
		if rows, err = s.pool.Query(ctx, query("digest_disputed"), digest.MaxDisputed); err == nil {
			d.Disputed, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
	}
	if err != nil {
		return digest.Day{}, pg.Fault(fmt.Errorf("read day: %w", err))
	}
	return d, nil
}

func (s *Store) topCalls(ctx context.Context, w digest.Window) ([]digest.Call, error) {
	rows, err := s.pool.Query(ctx, query("digest_top"), w.From, w.To, digest.MaxCalls)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c digest.Call, err error) {
		var yes bool
		err = row.Scan(&c.SignalID, &c.Handle, &c.MarketTitle, &yes, &c.Odds, &c.Score)
		c.Side = syntax.No
		if yes {
			c.Side = syntax.Yes
		}
		return c, err
	})
}
