package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/clock/internal/postgres/db"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// OpenAirings implements program.Store. It returns the oldest airings that are not measured yet, at most limit.
func (s *Store) OpenAirings(ctx context.Context, limit int) ([]program.Pending, error) {
	rows, err := s.reads.ListUnmeasuredAirings(ctx, int32(limit))
	return pg.Collect(rows, pending), err
}

func pending(row db.ListUnmeasuredAiringsRow) program.Pending {
	p := program.Pending{
		SegmentID: row.SegmentID, Market: protocol.MarketID(row.MarketID), StartedAt: row.StartedAt, EndedAt: row.EndedAt,
		Before: program.NoPrice, Viewers: row.ViewersPeak,
	}
	if row.YesBpsStart != nil {
		p.Before = protocol.Bps(*row.YesBpsStart)
	}
	return p
}

// RaiseViewers implements program.Store. It stores each viewer count that is higher than the stored one. The keys of viewers are
// segment IDs.
func (s *Store) RaiseViewers(ctx context.Context, viewers map[string]int32) error {
	p := db.RaiseViewersParams{SegmentIDs: slices.Sorted(maps.Keys(viewers))}
	for _, id := range p.SegmentIDs {
		p.Viewers = append(p.Viewers, viewers[id])
	}
	return s.writes.RaiseViewers(ctx, p)
}

// unknown is the parameter for an unknown price or count. The SQL statements store it as NULL.
const unknown = -1

// MeasureAirings implements program.Store. It stores the measured results of airings.
func (s *Store) MeasureAirings(ctx context.Context, list []program.Measured, at time.Time) error {
	p := db.MeasureAiringsParams{Now: at}
	for _, m := range list {
		p.SegmentIDs = append(p.SegmentIDs, m.SegmentID)
		p.YesBps = append(p.YesBps, priceColumn(m.After))
		p.Signals = append(p.Signals, max(m.Signals, unknown))
	}
	return s.writes.MeasureAirings(ctx, p)
}

func priceColumn(price protocol.Bps) int32 {
	if !price.Valid() {
		return unknown
	}
	return int32(price)
}

// OpenSamples implements program.Store. It returns the samples that are not measured yet. It also returns the sample of one
// slot, include, even if that sample is measured.
func (s *Store) OpenSamples(ctx context.Context, include program.Slot) ([]program.Sample, error) {
	rows, err := s.reads.ListUnmeasuredBaselines(ctx, int64(include))
	return pg.Collect(rows, sample), err
}

func sample(row db.ListUnmeasuredBaselinesRow) program.Sample {
	return program.Sample{
		Slot: program.Slot(row.Slot), Measured: row.Measured, Markets: pg.Collect(row.Markets, marketID),
		Prices: pg.Collect(row.Prices, func(bps int32) protocol.Bps { return protocol.Bps(bps) }),
	}
}

func marketID(text string) protocol.MarketID { return protocol.MarketID(text) }

// AddSample implements program.Store. It stores a sample, unless its slot already has one. A sample contains markets that could
// have aired in the slot but did not, and their prices.
func (s *Store) AddSample(ctx context.Context, one program.Sample) error {
	return s.writes.InsertBaseline(ctx, db.InsertBaselineParams{
		Slot: int64(one.Slot), StartedAt: one.Slot.Content(), Markets: pg.Collect(one.Markets, protocol.MarketID.String),
		Prices: pg.Collect(one.Prices, func(price protocol.Bps) int32 { return int32(price) }),
	})
}

// MeasureSample implements program.Store. It stores the result of the sample of a slot: the number of markets and the sum of
// their price moves.
func (s *Store) MeasureSample(ctx context.Context, slot program.Slot, markets int, moved int64, at time.Time) error {
	return s.writes.MeasureBaseline(ctx, db.MeasureBaselineParams{Slot: int64(slot), Markets: int32(markets), MovedBps: moved, Now: at})
}

// ListScheduledMarkets implements program.Store. It returns the markets that any channel has scheduled between the slots from and
// to, both included.
func (s *Store) ListScheduledMarkets(ctx context.Context, from, to program.Slot) ([]protocol.MarketID, error) {
	rows, err := s.reads.ListScheduledMarkets(ctx, db.ListScheduledMarketsParams{FirstSlot: int64(from), LastSlot: int64(to)})
	return pg.Collect(rows, marketID), err
}

// DeleteOld implements program.Store. The parameter before is the first slot that is not deleted. The parameter aired is the
// time before which airings and samples are deleted. The SQL statements delete only records that are also old according to
// the clock of the database.
func (s *Store) DeleteOld(ctx context.Context, before program.Slot, aired time.Time) error {
	return s.write(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.DeleteOldSlots(ctx, int64(before)); err != nil {
			return err
		}
		if err := q.DeleteOldAirings(ctx, aired); err != nil {
			return err
		}
		return q.DeleteOldBaselines(ctx, aired)
	})
}

// Influence implements program.Store. It reads the airings and the baseline from one snapshot of the database.
func (s *Store) Influence(ctx context.Context, since time.Time, limit int) (program.Influence, error) {
	var out program.Influence
	ctx, cancel := context.WithTimeout(ctx, writeBudget)
	defer cancel()
	// Under READ COMMITTED each statement would read another snapshot.
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, snapshot, func(tx pgx.Tx) error {
		q := db.New(tx)
		rows, err := q.ListMoves(ctx, db.ListMovesParams{Since: since, MaxRows: int32(limit)})
		if err != nil {
			return err
		}
		out.Items = pg.Collect(rows, moved)
		if len(rows) > 0 {
			out.Airings, out.MeanMove = rows[0].Airings, &rows[0].MeanMove
		}
		base, err := q.GetBaselineMove(ctx, since)
		if err != nil {
			return err
		}
		if base.Markets > 0 {
			mean := float64(base.MovedBps) / float64(base.Markets)
			out.BaselineMove = &mean
		}
		return nil
	})
	if err != nil {
		return program.Influence{}, pg.Fault(err)
	}
	return out, nil
}

func moved(row db.ListMovesRow) program.Moved {
	return program.Moved{
		SegmentID: row.SegmentID, Market: protocol.MarketID(row.MarketID), Title: row.Title, Lane: program.Lane(row.Lane),
		AiredAt: row.StartedAt, EndedAt: row.EndedAt, Before: protocol.Bps(pg.Value(row.YesBpsStart)), After: protocol.Bps(pg.Value(row.YesBpsAfter)),
		Signals: row.SignalsDuring, ViewersPeak: row.ViewersPeak, MeasuredAt: pg.Value(row.MeasuredAt),
	}
}
