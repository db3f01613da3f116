package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/record"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// ReadRecord implements record.Store.
func (s *Store) ReadRecord(ctx context.Context, userID string, recent, moments int, month time.Time) (record.Record, error) {
	var r record.Record
	err := s.readStats(ctx, userID, &r)
	if err == nil {
		var rank db.GetRankRow
		rank, err = s.rq.GetRank(ctx, db.GetRankParams{UserID: userID, Month: month})
		r.Rank, r.Field, r.Broadcast = rank.Rank, rank.Field, int(rank.Broadcast)
	}
	if err != nil {
		return record.Record{}, pg.Fault(fmt.Errorf("read record: %w", err))
	}
	calls, err := s.rq.ListRecentSignalsOfOperator(ctx, db.ListRecentSignalsOfOperatorParams{UserID: userID, Limit: int32(recent)})
	if err != nil {
		return record.Record{}, pg.Fault(fmt.Errorf("list recent signals: %w", err))
	}
	r.Recent = pg.Collect(calls, recordOf)
	won, err := s.rq.ListMoments(ctx, db.ListMomentsParams{UserID: userID, Limit: int32(moments)})
	if err != nil {
		return record.Record{}, pg.Fault(fmt.Errorf("list moments: %w", err))
	}
	r.Moments = pg.Collect(won, momentOf)
	return r, nil
}

func momentOf(m db.ListMomentsRow) record.Moment {
	return record.Moment{
		ID: m.ID, Tier: m.Tier, SignalID: m.SignalID, MarketID: m.MarketID, MarketTitle: m.MarketTitle, Side: protocol.SideOf(m.Yes),
		Odds: protocol.Bps(m.OddsBps), Score: int(m.Score), MintedAt: m.MintedAt,
	}
}

func (s *Store) readStats(ctx context.Context, userID string, r *record.Record) error {
	c, err := s.rq.GetRecord(ctx, userID)
	r.Stats = record.Stats{
		Total: c.Total, Won: c.Won, Lost: c.Lost, Void: c.Void, Score: c.Score, Streak: c.Streak,
		AvgCLV: record.Mean(c.ClvSum, c.ClvCount),
	}
	if c.BestBps != nil {
		r.Best = &record.Best{
			SignalID: pg.Value(c.BestSignal), MarketID: pg.Value(c.MarketID), MarketTitle: pg.Value(c.MarketTitle), Odds: protocol.Bps(*c.BestBps),
		}
	}
	return err
}

// ListRanked implements record.Store.
func (s *Store) ListRanked(ctx context.Context, limit int, month time.Time) ([]record.Ranked, error) {
	rows, err := s.rq.ListRanked(ctx, db.ListRankedParams{Limit: int32(limit), Month: month})
	return pg.Collect(rows, func(r db.ListRankedRow) record.Ranked {
		return record.Ranked{Operator: operatorOf(r.User), Stats: record.Stats{
			Total: r.Total, Won: r.Won, Lost: r.Lost, Void: r.Void, Score: r.Score, Streak: r.Streak,
			AvgCLV: record.Mean(r.ClvSum, r.ClvCount),
		}}
	}), pg.Fault(wrap("list ranked operators", err))
}

// Tallies implements record.Store.
func (s *Store) Tallies(ctx context.Context, userID string, since *time.Time) ([]record.Tally, error) {
	var rows []db.ListTalliesRow
	var err error
	if since == nil {
		rows, err = s.rq.ListTallies(ctx, userID)
	} else {
		var recent []db.ListTalliesSinceRow
		recent, err = s.rq.ListTalliesSince(ctx, db.ListTalliesSinceParams{UserID: &userID, Since: *since})
		rows = pg.Collect(recent, func(r db.ListTalliesSinceRow) db.ListTalliesRow { return db.ListTalliesRow(r) })
	}
	return pg.Collect(rows, func(r db.ListTalliesRow) (t record.Tally) {
		t.Lane, t.Price, t.Confidence = r.Lane, protocol.Bps(r.PriceBps), int(r.Confidence)
		t.Calls, t.Wins = r.Calls, r.Wins
		return t
	}), pg.Fault(wrap("list tallies", err))
}

// ReadScoreHistory implements record.Store.
func (s *Store) ReadScoreHistory(ctx context.Context, userID string, most, steps int) (record.ScoreHistory, error) {
	rows, err := s.rq.ListScoreSteps(ctx, db.ListScoreStepsParams{UserID: userID, Most: int64(most), Steps: int32(steps)})
	if err != nil {
		return record.ScoreHistory{}, pg.Fault(fmt.Errorf("list score steps: %w", err))
	}
	c := record.ScoreHistory{Whole: true, Steps: make([]record.Step, len(rows))}
	var end int64
	for i, r := range rows {
		c.Steps[i] = record.Step{At: r.EndedAt, Score: r.Score, Calls: r.Calls, Variance: r.Variance} // points of the step; cumulated by the loop below
		end, c.Whole = r.ScoreNow, r.Whole
	}
	for i := len(c.Steps) - 1; i >= 0; i-- { // from the newest step, which ends with the present sum of points
		gain := c.Steps[i].Score
		c.Steps[i].Score = end
		end -= gain
	}
	c.Before = end
	return c, nil
}

// ListLaneStats implements signal.Store.
func (s *Store) ListLaneStats(ctx context.Context, userID string) ([]signal.LaneStats, error) {
	rows, err := s.rq.ListLaneStats(ctx, userID)
	return pg.Collect(rows, func(r db.ListLaneStatsRow) signal.LaneStats {
		return signal.LaneStats{
			Lane: protocol.Lane(r.Lane), Total: r.Total, Won: r.Won, Lost: r.Lost, Void: r.Void, Score: r.Score, Streak: r.Streak,
			AvgCLV: record.Mean(r.ClvSum, r.ClvCount),
		}
	}), pg.Fault(wrap("list lane statistics", err))
}
