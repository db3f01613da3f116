package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// ListHot lists markets that are to be priced each minute and were not since
// before, the longest waiting first, at most limit; then at most fresh of those
// that never had an answer. One that was asked for since failed in vain is left
// out.
func (s *Store) ListHot(ctx context.Context, p syntax.Provider, now, before, failed time.Time, limit, fresh int) ([]syntax.MarketID, error) {
	return s.marketIDs(ctx, "market_hot", string(p), now, before, failed, limit, fresh)
}

// ListMissed lists open markets that no answer since sweep showed, but for
// those that were asked for since failed.
func (s *Store) ListMissed(ctx context.Context, p syntax.Provider, sweep, failed time.Time, limit int) ([]syntax.MarketID, error) {
	return s.marketIDs(ctx, "market_missed", string(p), sweep, failed, limit)
}

// ListStreamed lists the open markets whose price is followed live: those with
// open calls first, then looked, then those soon on the air; at most limit.
func (s *Store) ListStreamed(ctx context.Context, p syntax.Provider, now time.Time, looked []syntax.MarketID, limit int) ([]market.Streamed, error) {
	rows, err := s.pool.Query(ctx, query("market_streamed"), string(p), now, looked, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("market_streamed: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m market.Streamed, err error) {
		err = row.Scan(&m.ID, &m.Token, &m.YesIndex)
		return m, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("market_streamed: %w", err))
	}
	return list, nil
}

// ApplyTicks stores streamed prices, one a market; it returns the number of those that were
// newer than what was stored.
func (s *Store) ApplyTicks(ctx context.Context, ticks []market.Tick) (int, error) {
	ids, at, yes := make([]string, len(ticks)), make([]time.Time, len(ticks)), make([]int32, len(ticks))
	var quotes quotePrices
	now := s.now().UTC().Truncate(time.Millisecond)
	for i, t := range ticks {
		ids[i], at[i], yes[i] = string(t.ID), t.At, int32(t.Yes)
		quotes.add(t.Quote, now)
	}
	var newer int
	err := s.pool.QueryRow(ctx, query("market_tick"), ids, at, yes, quotes.yes, quotes.no, quotes.at, quotes.rule, now).Scan(&newer)
	if err != nil {
		return 0, pg.Fault(fmt.Errorf("store streamed prices: %w", err))
	}
	return newer, nil
}

// ListAwaitingQuote lists the open markets with calls filed after from and not after to that
// have no quote dated at least confirmAfter after the newest of these calls, those with the
// oldest call first, at most limit.
func (s *Store) ListAwaitingQuote(ctx context.Context, p syntax.Provider, from, to time.Time, confirmAfter time.Duration, limit int) ([]syntax.MarketID, error) {
	return s.marketIDs(ctx, "market_awaiting_quote", string(p), from, to, confirmAfter, limit, p.Prefix())
}

// MarkChecked notes that markets were asked for.
func (s *Store) MarkChecked(ctx context.Context, ids []syntax.MarketID, now time.Time) error {
	if _, err := s.pool.Exec(ctx, query("market_checked"), ids, now); err != nil {
		return pg.Fault(fmt.Errorf("mark checks: %w", err))
	}
	return nil
}

// CloseNative closes native markets whose cutoff has passed; it gives their number.
func (s *Store) CloseNative(ctx context.Context, now time.Time) (int, error) {
	var closed, woken int
	if err := s.pool.QueryRow(ctx, query("market_cutoff"), now).Scan(&closed, &woken); err != nil {
		return 0, pg.Fault(fmt.Errorf("close native markets: %w", err))
	}
	return closed, nil
}

// ThinPrices thins snapshots before a time to one in fifteen minutes, at most
// limit rows; it gives the number that went.
func (s *Store) ThinPrices(ctx context.Context, before time.Time, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, query("market_thin"), before, limit)
	if err != nil {
		return 0, pg.Fault(fmt.Errorf("thin prices: %w", err))
	}
	return int(tag.RowsAffected()), nil
}

func (s *Store) marketIDs(ctx context.Context, name string, args ...any) ([]syntax.MarketID, error) {
	rows, err := s.pool.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[syntax.MarketID])
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return ids, nil
}
