package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// GetSignal reads one signal. Fault: not_found.
func (s *Store) GetSignal(ctx context.Context, id string) (signal.Record, error) {
	list, err := s.records(ctx, "signal_get", id)
	if err != nil {
		return signal.Record{}, err
	}
	if len(list) == 0 {
		return signal.Record{}, signal.ErrNotFound
	}
	r := list[0]
	if !r.Verified {
		err = s.reads.QueryRow(ctx, query("unconfirmed_has"), id).Scan(&r.Unconfirmed)
	}
	if err != nil {
		return signal.Record{}, pg.Fault(fmt.Errorf("read signal: %w", err))
	}
	return r, nil
}

// ListSignalFeed lists one of the three feeds, newest first. A category narrows
// signal.Recent to the calls on its markets.
func (s *Store) ListSignalFeed(ctx context.Context, feed signal.FeedType, category string, limit int, now time.Time) ([]signal.Record, error) {
	switch {
	case feed == signal.Open:
		return s.records(ctx, "signal_feed_open", limit, now)
	case feed == signal.Recent && category != "":
		return s.records(ctx, "signal_feed_category", limit, category)
	}
	return s.records(ctx, "signal_feed_"+string(feed), limit)
}

// ListLedger lists a market's signals, newest first, with its totals.
func (s *Store) ListLedger(ctx context.Context, marketID string, limit int, after syntax.Cursor) (signal.Ledger, error) {
	var l signal.Ledger
	var crowdYes, crowdNo int64
	err := s.reads.QueryRow(ctx, query("signal_totals"), marketID).Scan(&l.Yes, &l.No, &crowdYes, &crowdNo)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return signal.Ledger{}, pg.Fault(fmt.Errorf("read market totals: %w", err))
	}
	from := newestEdge
	if t, ok := after.Time(0); ok && isUUID(after.ID) {
		from = edge{t, after.ID}
	}
	l.Signals, err = s.records(ctx, "signal_ledger", marketID, from.at, from.id, limit)
	if err != nil {
		return signal.Ledger{}, err
	}
	if len(l.Signals) == limit {
		last := l.Signals[limit-1]
		l.Next = syntax.NewCursor(last.ID, syntax.TimeKey(last.CreatedAt)).Encode()
	}
	return l, nil
}

// GetCrowd reads how a market's crowd stands, from its counters.
func (s *Store) GetCrowd(ctx context.Context, marketID, operatorID string, now time.Time) (signal.Crowd, error) {
	c := signal.Crowd{UpdatedAt: now.UTC()}
	var yes, no int64
	err := s.reads.QueryRow(ctx, query("signal_totals"), marketID).Scan(&yes, &no, &c.Yes, &c.No)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return signal.Crowd{}, pg.Fault(fmt.Errorf("read market totals: %w", err))
	}
	if c.Yes+c.No >= minTopSample {
		if err := s.topCrowd(ctx, marketID, &c); err != nil {
			return signal.Crowd{}, err
		}
	}
	if operatorID != "" {
		own, err := s.records(ctx, "signal_own", marketID, operatorID)
		if err != nil {
			return signal.Crowd{}, err
		}
		if len(own) > 0 {
			c.Own = &own[0]
		}
	}
	return c, nil
}

// minTopSample is the least number of top forecasters that make a consensus.
const minTopSample = 3

func (s *Store) topCrowd(ctx context.Context, marketID string, c *signal.Crowd) error {
	cut, err := s.cuts.get(ctx)
	if err != nil || cut == nil {
		return err
	}
	var yes, n int64
	if err := s.reads.QueryRow(ctx, query("signal_top_crowd"), marketID, cut.mean, cut.counted, cut.user).Scan(&yes, &n); err != nil {
		return pg.Fault(fmt.Errorf("read top forecasters: %w", err))
	}
	if n >= minTopSample {
		percent := int((200*yes + n) / (2 * n))
		c.TopYesPercent, c.TopSample = &percent, int(n)
	}
	return nil
}

func (s *Store) records(ctx context.Context, name string, args ...any) ([]signal.Record, error) {
	rows, err := s.reads.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	list, err := pgx.CollectRows(rows, scanRecord)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return list, nil
}

func scanRecord(row pgx.CollectableRow) (signal.Record, error) {
	var r signal.Record
	var yes bool
	var reason *string
	err := row.Scan(&r.ID, &r.PublicID, &r.ProviderID, &r.Handle, &r.DisplayName, &r.Tier, &r.MarketID, &r.MarketTitle,
		&r.Lane, &yes, &r.Price, &r.CrowdYes, &r.Confidence, &r.TextTake, &r.Source, &r.TimeToResolution, &r.CreatedAt,
		&r.Status, &r.Score, &r.ResolvedAt, &r.Outcome, &r.ClosePrice, &r.CLV,
		&r.Basis, &r.Verified, &r.Rated, &r.Counted, &r.MarketYes, &r.ClosesAt, &r.QuoteAt, &r.ConfirmedAt, &reason, &r.LiveYes)
	r.Side, r.Reason = sideOf(yes), orEmpty(reason)
	if r.LiveYes != nil {
		move := signal.Move(r.Side, r.Price, *r.LiveYes)
		r.Move = &move
	}
	return r, err
}

func sideOf(yes bool) syntax.Side {
	if yes {
		return syntax.Yes
	}
	return syntax.No
}

// isUUID keeps a forged cursor from becoming a database error.
func isUUID(s string) bool {
	_, err := uuid.Parse(s) // which reads other forms, too
	return err == nil && len(s) == 36
}
