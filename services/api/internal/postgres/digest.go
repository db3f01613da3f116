package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/digest"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// dayTimeout is the timeout of all reads of Day together. They scan all database rows of the day.
const dayTimeout = 30 * time.Second

// Day implements digest.Store. It reads the parts one after the other, without a snapshot. A call that is stored between two
// reads is counted only by the second.
func (s *Store) Day(ctx context.Context, w digest.Window) (digest.Day, error) {
	ctx, cancel := context.WithTimeout(ctx, dayTimeout)
	defer cancel()
	var d digest.Day
	day, err := s.q.CountDay(ctx, db.CountDayParams{Since: w.From, Until: w.To})
	d.Signals, d.Won, d.Lost, d.Void, d.NewOperators = day.Signals, day.Won, day.Lost, day.Void, day.Operators
	if err == nil {
		var p db.CountPulseOfDayRow
		p, err = s.q.CountPulseOfDay(ctx, db.CountPulseOfDayParams{Until: w.To, Week: w.Week})
		d.Pulse.Last7, d.Pulse.Prev7, d.Pulse.WeekSignals, d.Pulse.WeekOperators = p.Last7, p.Prev7, p.WeekSignals, p.WeekOperators
	}
	if err == nil {
		d.TopCalls, err = s.topCalls(ctx, w)
	}
	if err == nil {
		d.Disputed, err = s.q.ListDisputedMarkets(ctx, digest.MaxDisputed)
	}
	if err != nil {
		return digest.Day{}, pg.Fault(fmt.Errorf("read day: %w", err))
	}
	return d, nil
}

func (s *Store) topCalls(ctx context.Context, w digest.Window) ([]digest.Call, error) {
	rows, err := s.q.ListTopCalls(ctx, db.ListTopCallsParams{Since: w.From, Until: w.To, Limit: digest.MaxCalls})
	return pg.Collect(rows, func(r db.ListTopCallsRow) digest.Call {
		return digest.Call{
			SignalID: r.ID, Handle: r.Handle, MarketTitle: r.MarketTitle, Side: protocol.SideOf(r.Yes), Odds: protocol.Bps(r.Odds), Score: r.Score,
		}
	}), err
}
