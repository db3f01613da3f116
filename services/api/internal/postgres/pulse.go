package postgres

import (
	"context"
	"fmt"
	"time"

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
