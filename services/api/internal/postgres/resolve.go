package postgres

import (
	"context"
	_ "embed" // for the SQL files in directory hot
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// Claim stores the outcome of a market once. If the market has at most Rules.ResolveChunk calls, the same transaction scores
// them. Otherwise the field Rest of the result is true, and DrainOnce must score the calls. Errors, in this order:
// market_not_found, market_disputed, already_resolved.
func (s *Store) Claim(ctx context.Context, c resolution.Claim, clock func() time.Time) (resolution.Result, error) {
	var out resolution.Result
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		out = resolution.Result{}
		m, err := lockMarket(ctx, tx, c.MarketID, c.DecidedAt, clock)
		if err != nil {
			return err
		}
		total, err := s.claimMarket(ctx, tx, c, m)
		if err != nil {
			return err
		}
		out.Calls, out.Rest = total, total > int64(s.rules.ResolveChunk)
		settle := db.SettleMarketParams{MarketID: c.MarketID, Outcome: string(c.Verdict), At: m.EffectiveAt, Drain: out.Rest}
		if err := db.New(tx).SettleMarket(ctx, settle); err != nil {
			return fmt.Errorf("settle market: %w", err)
		}
		if total > 0 && !out.Rest {
			if out.Tally, _, err = s.scoreChunk(ctx, tx, c.MarketID, nil); err != nil {
				return err
			}
		}
		out.Outcome, _, err = readOutcome(ctx, db.New(tx), c.MarketID)
		return err
	})
	return out, err
}

// lockMarket locks a market until the end of the transaction and reads the clock after the lock is granted. decidedAt is the
// time at which the outcome became public, or nil if it is unknown. Error: market_not_found.
func lockMarket(ctx context.Context, tx pgx.Tx, marketID string, decidedAt *time.Time, clock func() time.Time) (db.GetLockedMarketRow, error) {
	q := db.New(tx)
	n, err := q.LockMarket(ctx, marketID)
	if err == nil && n == 0 {
		return db.GetLockedMarketRow{}, resolution.ErrNotFound
	}
	var m db.GetLockedMarketRow
	if err == nil {
		now := clock().UTC().Truncate(time.Millisecond)
		m, err = q.GetLockedMarket(ctx, db.GetLockedMarketParams{MarketID: marketID, Now: now, DecidedAt: decidedAt})
	}
	return m, wrap("lock market", err)
}

// claimMarket inserts the claim of an outcome and returns the number of calls on the market. Errors: market_disputed,
// already_resolved.
func (s *Store) claimMarket(ctx context.Context, tx pgx.Tx, c resolution.Claim, m db.GetLockedMarketRow) (int64, error) {
	if m.Disputed { // also if the market already has an outcome
		return 0, resolution.ErrDisputed
	}
	q := db.New(tx)
	if o, found, err := readClaimed(ctx, q, c.MarketID); err != nil || found {
		if err == nil {
			err = resolution.ErrResolved.With("outcome", o.Members())
		}
		return 0, err
	}
	p := db.ClaimResolutionParams{
		MarketID: c.MarketID, Outcome: string(c.Verdict), Resolver: c.Resolver, Source: c.Source, ProofURL: c.ProofURL,
		Reason: c.Reason, FinalizedBy: c.FinalizedBy, Payout: c.Payout, CloseAt: m.CloseAt, Lane: m.Lane, ResolvedAt: m.EffectiveAt,
		DecidedAt: c.DecidedAt, RatedCreators: s.rules.RatedCreators, RatedVolume: s.rules.RatedMinVolumeUSD,
	}
	switch closing, err := q.GetClosingLine(ctx, db.GetClosingLineParams{MarketID: c.MarketID, CloseAt: m.CloseAt}); {
	case err == nil:
		p.ClosePrice = &closing
	case !errors.Is(err, pgx.ErrNoRows):
		return 0, fmt.Errorf("read closing line: %w", err)
	}
	n, err := q.ClaimResolution(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("insert claim: %w", err)
	}
	if n == 0 {
		return 0, resolution.ErrResolved
	}
	total, err := q.CountClaimedSignals(ctx, c.MarketID)
	return total, missing(err, nil, "count signals")
}

// scoreChunk scores the calls of the next Rules.ResolveChunk operators, in the order of operator ids. The chunk starts after
// the operator with the id in after, or with the first operator if after is nil. last is the last operator whose call was
// scored, or nil if no operator was left.
func (s *Store) scoreChunk(ctx context.Context, tx pgx.Tx, marketID string, after *string) (t resolution.Tally, last *string, err error) {
	if err := db.New(tx).LockScores(ctx); err != nil {
		return t, nil, fmt.Errorf("lock scores: %w", err)
	}
	p := scoreSignalsParams{MarketID: marketID, After: after, Most: s.rules.ResolveChunk, Version: resolution.ScoringVersion}
	if s.rules.ConfirmAfter > 0 {
		p.ConfirmAfter = &s.rules.ConfirmAfter
	}
	row, err := p.run(ctx, tx)
	if err != nil {
		return t, nil, fmt.Errorf("score signals: %w", err)
	}
	t = resolution.Tally{Scored: row.Scored, Won: row.Won, Lost: row.Lost, Void: row.Void}
	if row.Moved != t.Scored {
		return t, nil, fmt.Errorf("%d of %d operators of market %s have no score row", t.Scored-row.Moved, t.Scored, marketID)
	}
	return t, row.Last, nil
}

//go:embed hot/score_signals.sql
var scoreSignals string

// scoreSignalsParams are the parameters of hot/score_signals.sql, in their order.
type scoreSignalsParams struct {
	MarketID     string
	After        *string // operator after which the chunk starts; nil means the first operator
	Most         int
	Version      string
	ConfirmAfter *time.Duration // shortest time from a call to its second quote; nil means second quotes are off
}

// scoreSignalsRow is the result row of hot/score_signals.sql.
type scoreSignalsRow struct {
	Scored, Won, Lost, Void int64
	Last                    *string // last operator scored; nil if no operator was left
	Moved                   int64   // operators whose counters changed
}

func (p scoreSignalsParams) run(ctx context.Context, on db.DBTX) (scoreSignalsRow, error) {
	rows, err := on.Query(ctx, scoreSignals, p.MarketID, p.After, p.Most, p.Version, p.ConfirmAfter)
	if err != nil {
		return scoreSignalsRow{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[scoreSignalsRow])
}

// DrainOnce scores the next chunk of calls on a market with a claimed outcome. more is true if calls may be left. A disputed
// market is not scored, and more is then false.
func (s *Store) DrainOnce(ctx context.Context, marketID string) (t resolution.Tally, more bool, err error) {
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		drain, err := q.LockDrain(ctx, marketID)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && drain.Disputed {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock drain: %w", err)
		}
		var last *string
		if t, last, err = s.scoreChunk(ctx, tx, marketID, drain.AfterUser); err != nil {
			return err
		}
		if more = t.Scored == int64(s.rules.ResolveChunk); more {
			err = q.AdvanceDrain(ctx, db.AdvanceDrainParams{MarketID: marketID, AfterUser: last})
		} else {
			err = q.DeleteDrain(ctx, marketID)
		}
		return wrap("mark chunk", err)
	})
	return t, more, err
}

// ListDrains returns the ids of at most 100 undisputed markets that have a claimed outcome and calls without a score, oldest
// claim first.
func (s *Store) ListDrains(ctx context.Context) ([]string, error) {
	ids, err := s.q.ListDrains(ctx)
	return ids, pg.Fault(wrap("list drains", err))
}

// Dispute marks a market as disputed, with an optional reason, if disputed is true. Otherwise it removes the mark. It
// returns the resulting resolution record. It locks the market. Error: market_not_found.
func (s *Store) Dispute(ctx context.Context, marketID string, disputed bool, reason *string, clock func() time.Time) (resolution.Outcome, error) {
	var out resolution.Outcome
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		m, err := lockMarket(ctx, tx, marketID, nil, clock)
		if err != nil {
			return err
		}
		q := db.New(tx)
		err = q.SetDispute(ctx, db.SetDisputeParams{MarketID: marketID, Disputed: disputed, Reason: reason, At: m.EffectiveAt})
		if err != nil {
			return fmt.Errorf("write dispute: %w", err)
		}
		out, _, err = readOutcome(ctx, q, marketID)
		return err
	})
	return out, err
}

// GetOutcome returns the resolution record of a market. The second result is false if the market has neither an outcome nor
// a dispute.
func (s *Store) GetOutcome(ctx context.Context, marketID string) (resolution.Outcome, bool, error) {
	o, found, err := readOutcome(ctx, s.rq, marketID)
	return o, found, pg.Fault(err)
}

func readOutcome(ctx context.Context, q *db.Queries, marketID string) (resolution.Outcome, bool, error) {
	r, err := q.GetOutcome(ctx, marketID)
	if err != nil {
		return resolution.Outcome{}, false, missing(err, nil, "read outcome")
	}
	return resolution.Outcome{
		Verdict: (*protocol.Verdict)(r.Outcome), Resolver: r.Resolver, Source: r.Source, ProofURL: r.ProofURL, ResolvedAt: r.ResolvedAt,
		Disputed: r.Disputed, DisputeReason: r.DisputeReason, DisputedAt: r.DisputedAt,
	}, true, nil
}

// readClaimed returns the resolution record of a market. found is true only if the market has an outcome; it is false for a
// market that is only disputed.
func readClaimed(ctx context.Context, q *db.Queries, marketID string) (o resolution.Outcome, found bool, err error) {
	o, found, err = readOutcome(ctx, q, marketID)
	return o, found && o.Verdict != nil, err
}
