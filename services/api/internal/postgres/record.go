package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/record"
)

// ReadRecord implements record.Store.
func (s *Store) ReadRecord(ctx context.Context, userID string, recent, moments int, month time.Time) (record.Record, error) {
	var r record.Record
	err := s.readStats(ctx, userID, &r)
	if err == nil {
		err = s.reads.QueryRow(ctx, query("record_rank"), userID, month).Scan(&r.Rank, &r.Field, &r.Broadcast)
	}
	if err != nil {
		return record.Record{}, pg.Fault(fmt.Errorf("read record: %w", err))
	}
	if r.Recent, err = s.records(ctx, "record_recent", userID, recent); err != nil {
		return record.Record{}, err
	}
	if r.Moments, err = s.readMoments(ctx, userID, moments); err != nil {
		return record.Record{}, err
	}
	return r, nil
}

func (s *Store) readStats(ctx context.Context, userID string, r *record.Record) error {
	var sum, n int64
	var odds *syntax.Bps
	var signal, market, title *string
	t := &r.Stats
	err := s.reads.QueryRow(ctx, query("record_read"), userID).Scan(&t.Total, &t.Won, &t.Lost, &t.Void, &t.Score, &t.Streak,
		&sum, &n, &odds, &signal, &market, &title)
	t.AvgCLV = record.Mean(sum, n)
	if odds != nil {
		r.Best = &record.Best{SignalID: orEmpty(signal), MarketID: orEmpty(market), MarketTitle: orEmpty(title), Odds: *odds}
	}
	return err
}

func (s *Store) readMoments(ctx context.Context, userID string, limit int) ([]record.Moment, error) {
	rows, err := s.reads.Query(ctx, query("record_moments"), userID, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("record_moments: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (record.Moment, error) {
		var m record.Moment
		var yes bool
		err := row.Scan(&m.ID, &m.Tier, &m.SignalID, &m.MarketID, &m.MarketTitle, &yes, &m.Odds, &m.Score, &m.MintedAt)
		m.Side = sideOf(yes)
		return m, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("record_moments: %w", err))
	}
	return list, nil
}

// ListRanked implements record.Store.
func (s *Store) ListRanked(ctx context.Context, limit int, month time.Time) ([]record.Ranked, error) {
	rows, err := s.reads.Query(ctx, query("record_ranked"), limit, month)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("record_ranked: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (record.Ranked, error) {
		var r record.Ranked
		var sum, n int64
		t := &r.Stats
		err := row.Scan(append(operatorFields(&r.Operator), &t.Total, &t.Won, &t.Lost, &t.Void, &t.Score, &t.Streak, &sum, &n)...)
		t.AvgCLV = record.Mean(sum, n)
		return r, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("record_ranked: %w", err))
	}
	return list, nil
}

// Tallies implements record.Store.
func (s *Store) Tallies(ctx context.Context, userID string, since *time.Time) ([]record.Tally, error) {
	name, args := "record_tallies", []any{userID}
	if since != nil {
		name, args = "record_window", append(args, *since)
	}
	rows, err := s.reads.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (record.Tally, error) {
		var t record.Tally
		err := row.Scan(&t.Lane, &t.Price, &t.Confidence, &t.Calls, &t.Wins)
		return t, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return list, nil
}

// ReadCourse implements record.Store.
func (s *Store) ReadCourse(ctx context.Context, userID string, most, steps int) (record.Course, error) {
	rows, err := s.reads.Query(ctx, query("record_course"), userID, most, steps)
	if err != nil {
		return record.Course{}, pg.Fault(fmt.Errorf("record_course: %w", err))
	}
	var end int64
	c := record.Course{Whole: true}
	c.Steps, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (record.Step, error) {
		var p record.Step // its score is that of the step alone, for now
		err := row.Scan(&p.At, &p.Score, &p.Calls, &end, &c.Whole)
		return p, err
	})
	if err != nil {
		return record.Course{}, pg.Fault(fmt.Errorf("record_course: %w", err))
	}
	for i := len(c.Steps) - 1; i >= 0; i-- { // from what it is now back to what it was
		gain := c.Steps[i].Score
		c.Steps[i].Score = end
		end -= gain
	}
	c.Before = end
	return c, nil
}
