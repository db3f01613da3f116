package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// OpenAirings implements program.Archive.
func (s *Store) OpenAirings(ctx context.Context, limit int) ([]program.Pending, error) {
	rows, err := s.reads.Query(ctx, query("airing_open"), limit)
	if err != nil {
		return nil, fmt.Errorf("list airings: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (program.Pending, error) {
		p := program.Pending{Before: program.NoPrice}
		var yes *syntax.Bps
		err := row.Scan(&p.SegmentID, &p.Market, &p.StartedAt, &p.EndedAt, &yes, &p.Viewers)
		if yes != nil {
			p.Before = *yes
		}
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("list airings: %w", err)
	}
	return list, nil
}

// Raise implements program.Archive.
func (s *Store) Raise(ctx context.Context, viewers map[string]int32) error {
	segments := slices.Sorted(maps.Keys(viewers))
	counts := make([]int32, len(segments))
	for i, id := range segments {
		counts[i] = viewers[id]
	}
	if _, err := s.writes.Exec(ctx, query("airing_peak"), segments, counts); err != nil {
		return fmt.Errorf("raise viewers: %w", err)
	}
	return nil
}

// Measure implements program.Archive.
func (s *Store) Measure(ctx context.Context, list []program.Measured, at time.Time) error {
	n := len(list)
	segments, prices, signals := make([]string, n), make([]*int32, n), make([]*int64, n)
	for i := range list {
		m := &list[i]
		segments[i] = m.SegmentID
		if m.After.Valid() {
			yes := int32(m.After)
			prices[i] = &yes
		}
		if m.Signals >= 0 {
			signals[i] = &m.Signals
		}
	}
	if _, err := s.writes.Exec(ctx, query("airing_measure"), segments, prices, signals, at); err != nil {
		return fmt.Errorf("measure airings: %w", err)
	}
	return nil
}

// OpenSamples implements program.Archive.
func (s *Store) OpenSamples(ctx context.Context, with program.Slot) ([]program.Sample, error) {
	rows, err := s.reads.Query(ctx, query("baseline_open"), int64(with))
	if err != nil {
		return nil, fmt.Errorf("list samples: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (program.Sample, error) {
		var slot int64
		var one program.Sample
		err := row.Scan(&slot, &one.Markets, &one.Prices, &one.Measured)
		one.Slot = program.Slot(slot)
		return one, err
	})
	if err != nil {
		return nil, fmt.Errorf("list samples: %w", err)
	}
	return list, nil
}

// AddSample implements program.Archive.
func (s *Store) AddSample(ctx context.Context, one program.Sample) error {
	markets, prices := make([]string, len(one.Markets)), make([]int32, len(one.Prices))
	for i := range markets {
		markets[i], prices[i] = string(one.Markets[i]), int32(one.Prices[i])
	}
	if _, err := s.writes.Exec(ctx, query("baseline_add"), int64(one.Slot), one.Slot.Content(), markets, prices); err != nil {
		return fmt.Errorf("keep sample: %w", err)
	}
	return nil
}

// MeasureSample implements program.Archive.
func (s *Store) MeasureSample(ctx context.Context, slot program.Slot, markets int, moved int64, at time.Time) error {
	if _, err := s.writes.Exec(ctx, query("baseline_measure"), int64(slot), markets, moved, at); err != nil {
		return fmt.Errorf("measure sample: %w", err)
	}
	return nil
}

// Standing implements program.Archive.
func (s *Store) Standing(ctx context.Context, from, to program.Slot) ([]syntax.MarketID, error) {
	rows, err := s.reads.Query(ctx, query("slot_aired"), int64(from), int64(to))
	if err != nil {
		return nil, fmt.Errorf("list what stands: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[syntax.MarketID])
	if err != nil {
		return nil, fmt.Errorf("list what stands: %w", err)
	}
	return list, nil
}

// Sweep implements program.Archive. What is young by the database's own clock stays.
func (s *Store) Sweep(ctx context.Context, before program.Slot, aired time.Time) error {
	return s.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, query("slot_sweep"), int64(before)); err != nil {
			return fmt.Errorf("sweep slots: %w", err)
		}
		if _, err := tx.Exec(ctx, query("airing_sweep"), aired); err != nil {
			return fmt.Errorf("sweep airings: %w", err)
		}
		if _, err := tx.Exec(ctx, query("baseline_sweep"), aired); err != nil {
			return fmt.Errorf("sweep samples: %w", err)
		}
		return nil
	})
}

// Influence implements program.Influences.
func (s *Store) Influence(ctx context.Context, since time.Time, limit int) (program.Influence, error) {
	var out program.Influence
	err := s.write(ctx, func(ctx context.Context, tx pgx.Tx) error {
		out = program.Influence{}
		rows, err := tx.Query(ctx, query("airing_moved"), since, limit)
		if err != nil {
			return fmt.Errorf("list airings: %w", err)
		}
		out.Items, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (program.Moved, error) {
			var m program.Moved
			var mean float64
			err := row.Scan(&m.SegmentID, &m.Market, &m.Title, &m.Lane, &m.AiredAt, &m.EndedAt, &m.Before, &m.After,
				&m.Signals, &m.ViewersPeak, &m.MeasuredAt, &out.Airings, &mean)
			out.MeanMove = &mean
			return m, err
		})
		if err != nil {
			return fmt.Errorf("list airings: %w", err)
		}
		var markets, moved int64
		if err := tx.QueryRow(ctx, query("baseline_mean"), since).Scan(&markets, &moved); err != nil {
			return fmt.Errorf("read baseline: %w", err)
		}
		if markets > 0 {
			mean := float64(moved) / float64(markets)
			out.BaselineMove = &mean
		}
		return nil
	})
	if err != nil {
		return program.Influence{}, pg.Fault(err)
	}
	return out, nil
}
