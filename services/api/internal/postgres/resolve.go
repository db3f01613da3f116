package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/score"
)

// Claim claims an outcome once and scores, in one transaction, up to the chunk
// size; a larger market is left to DrainOnce. Faults, the first that holds:
// market_not_found, market_disputed, already_resolved.
func (s *Store) Claim(ctx context.Context, c resolve.Claim, clock func() time.Time) (resolve.Result, error) {
	var out resolve.Result
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		out = resolve.Result{}
		m, err := holdMarket(ctx, tx, c.MarketID, c.DecidedAt, clock)
		if err != nil {
			return err
		}
		total, err := s.claimMarket(ctx, tx, c, m)
		if err != nil {
			return err
		}
		out.Rest = total > int64(s.rules.ResolveChunk)
		if _, err := tx.Exec(ctx, query("resolve_settle"), c.MarketID, string(c.Verdict), m.at, out.Rest); err != nil {
			return fmt.Errorf("settle market: %w", err)
		}
		if total > 0 && !out.Rest {
			if out.Tally, _, err = s.scoreChunk(ctx, tx, c.MarketID, nil); err != nil {
				return err
			}
		}
		out.Outcome, _, err = readOutcome(ctx, tx, c.MarketID)
		return err
	})
	return out, err
}

// held is a locked market.
type held struct {
	disputed bool
	lane     string
	closeAt  time.Time // a call from then on is late
	at       time.Time // of what is done to the market; after every call on it
}

// holdMarket locks a market and reads the clock when it has the lock. decidedAt is when the
// outcome was public, or nil. Fault: market_not_found.
func holdMarket(ctx context.Context, tx pgx.Tx, marketID string, decidedAt *time.Time, clock func() time.Time) (m held, err error) {
	tag, err := tx.Exec(ctx, query("resolve_lock"), marketID)
	if err == nil && tag.RowsAffected() == 0 {
		return m, resolve.ErrNotFound
	}
	if err == nil {
		now := clock().UTC().Truncate(time.Millisecond)
		err = tx.QueryRow(ctx, query("resolve_held"), marketID, now, decidedAt).Scan(&m.disputed, &m.lane, &m.closeAt, &m.at)
	}
	if err != nil {
		return m, fmt.Errorf("lock market: %w", err)
	}
	return m, nil
}

// claimMarket inserts the claim and returns the number of signals that it settles.
func (s *Store) claimMarket(ctx context.Context, tx pgx.Tx, c resolve.Claim, m held) (int64, error) {
	if m.disputed { // also if the market has an outcome
		return 0, resolve.ErrDisputed
	}
	if o, found, err := readClaimed(ctx, tx, c.MarketID); err != nil || found {
		if err == nil {
			err = resolve.ErrResolved.With("outcome", o.Members())
		}
		return 0, err
	}
	var closing *int32
	if err := tx.QueryRow(ctx, query("resolve_close"), c.MarketID, m.closeAt).Scan(&closing); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("read closing line: %w", err)
	}
	tag, err := tx.Exec(ctx, query("resolve_claim"), c.MarketID, string(c.Verdict), c.Resolver, c.Source, c.ProofURL,
		c.Reason, c.FinalizedBy, c.Payout, m.closeAt, closing, m.lane, m.at, c.DecidedAt, s.rules.RatedCreators, s.rules.RatedMinVolumeUSD)
	if err != nil {
		return 0, fmt.Errorf("insert claim: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return 0, resolve.ErrResolved
	}
	var total int64
	if err := tx.QueryRow(ctx, query("resolve_total"), c.MarketID).Scan(&total); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("count signals: %w", err)
	}
	return total, nil
}

// scoreChunk scores up to one chunk of operators after the given one; last is
// nil when nothing was left.
func (s *Store) scoreChunk(ctx context.Context, tx pgx.Tx, marketID string, after *string) (t resolve.Tally, last *string, err error) {
	if _, err := tx.Exec(ctx, query("resolve_serial")); err != nil {
		return t, nil, fmt.Errorf("wait for other claims: %w", err)
	}
	var confirm *time.Duration // nil: second quotes are off
	if s.rules.ConfirmAfter > 0 {
		confirm = &s.rules.ConfirmAfter
	}
	var moved int64
	err = tx.QueryRow(ctx, query("resolve_score"), marketID, after, s.rules.ResolveChunk, score.Version, confirm).
		Scan(&t.Scored, &t.Won, &t.Lost, &t.Void, &last, &moved)
	if err != nil {
		return t, nil, fmt.Errorf("score signals: %w", err)
	}
	if moved != t.Scored {
		return t, nil, fmt.Errorf("%d of %d operators of market %s have no score row", t.Scored-moved, t.Scored, marketID)
	}
	return t, last, nil
}

// DrainOnce scores the next chunk of a claimed market.
func (s *Store) DrainOnce(ctx context.Context, marketID string) (t resolve.Tally, more bool, err error) {
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var after *string
		var disputed bool
		err := tx.QueryRow(ctx, query("resolve_drain"), marketID).Scan(&after, &disputed)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && disputed {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock drain: %w", err)
		}
		var last *string
		if t, last, err = s.scoreChunk(ctx, tx, marketID, after); err != nil {
			return err
		}
		more = t.Scored == int64(s.rules.ResolveChunk)
		if more {
			_, err = tx.Exec(ctx, query("resolve_drain_move"), marketID, last)
		} else {
			_, err = tx.Exec(ctx, query("resolve_drain_end"), marketID)
		}
		if err != nil {
			return fmt.Errorf("mark chunk: %w", err)
		}
		return nil
	})
	return t, more, err
}

// ListDrains lists claimed markets whose scoring is not finished.
func (s *Store) ListDrains(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, query("resolve_drain_list"))
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list drains: %w", err))
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list drains: %w", err))
	}
	return ids, nil
}

// Dispute flags or clears a market under its lock. Fault: market_not_found.
func (s *Store) Dispute(ctx context.Context, marketID string, disputed bool, reason *string, clock func() time.Time) (resolve.Outcome, error) {
	var out resolve.Outcome
	err := pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		m, err := holdMarket(ctx, tx, marketID, nil, clock)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, query("resolve_dispute"), marketID, disputed, reason, m.at); err != nil {
			return fmt.Errorf("write dispute: %w", err)
		}
		out, _, err = readOutcome(ctx, tx, marketID)
		return err
	})
	return out, err
}

// GetOutcome reads the resolution record of a market.
func (s *Store) GetOutcome(ctx context.Context, marketID string) (resolve.Outcome, bool, error) {
	o, found, err := readOutcome(ctx, s.reads, marketID)
	return o, found, pg.Fault(err)
}

// queryer is the pool, the pool with the budget of a read that a caller waits
// for, or a transaction.
type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func readOutcome(ctx context.Context, q queryer, marketID string) (o resolve.Outcome, found bool, err error) {
	err = q.QueryRow(ctx, query("resolve_outcome"), marketID).Scan(&o.Verdict, &o.Resolver, &o.Source, &o.ProofURL,
		&o.ResolvedAt, &o.Disputed, &o.DisputeReason, &o.DisputedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, false, nil
	}
	if err != nil {
		return o, false, fmt.Errorf("read outcome: %w", err)
	}
	return o, true, nil
}

// readClaimed tells whether an outcome was claimed; a mere dispute is not one.
func readClaimed(ctx context.Context, q queryer, marketID string) (resolve.Outcome, bool, error) {
	o, found, err := readOutcome(ctx, q, marketID)
	return o, found && o.Verdict != nil, err
}
