package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// pulseBudget is how long counting the network may take.
const pulseBudget = 10 * time.Second

// PulseTotals implements board.Store.
func (s *Store) PulseTotals(ctx context.Context, now time.Time) (board.Totals, error) {
	var t board.Totals
	err := pg.Bound(s.pool, pulseBudget).QueryRow(ctx, query("board_pulse"), now).Scan(
		&t.Signals, &t.Independent, &t.House, &t.Automated, &t.Last7, &t.Prev7,
		&t.IndependentOperators, &t.IndependentActive28, &t.HouseOperators, &t.Registered,
		&t.Markets, &t.Won, &t.Lost, &t.Open, &t.CLVCount, &t.BeatLine)
	if err != nil {
		return board.Totals{}, pg.Fault(fmt.Errorf("count the pulse: %w", err))
	}
	return t, nil
}

// PulseWeeks implements board.Store.
func (s *Store) PulseWeeks(ctx context.Context, first, now time.Time) (weeks map[int]board.Week, last *time.Time, claims int64, err error) {
	patient := pg.Bound(s.pool, pulseBudget)
	if err := patient.QueryRow(ctx, query("board_since"), now).Scan(&last, &claims); err != nil {
		return nil, nil, 0, pg.Fault(fmt.Errorf("board_since: %w", err))
	}
	rows, err := patient.Query(ctx, query("board_weeks"), first, now)
	if err != nil {
		return nil, nil, 0, pg.Fault(fmt.Errorf("board_weeks: %w", err))
	}
	weeks = map[int]board.Week{}
	var n int
	var w board.Week
	_, err = pgx.ForEachRow(rows, []any{&n, &w.Independent, &w.House, &w.Automated, &w.ActiveIndependent}, func() error {
		weeks[n] = w
		return nil
	})
	if err != nil {
		return nil, nil, 0, pg.Fault(fmt.Errorf("board_weeks: %w", err))
	}
	return weeks, last, claims, nil
}
