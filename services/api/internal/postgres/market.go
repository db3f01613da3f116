package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
)

// FindMarket reads a market as it is stored.
func (s *Store) FindMarket(ctx context.Context, id syntax.MarketID) (market.Market, bool, error) {
	list, err := s.markets(ctx, s.reads, "market_get", string(id))
	if err != nil || len(list) == 0 {
		return market.Market{}, false, err
	}
	return list[0], true, nil
}

// ListMarkets reads the markets that exist, in no order.
func (s *Store) ListMarkets(ctx context.Context, ids []string) ([]market.Market, error) {
	return s.markets(ctx, s.reads, "market_list", ids)
}

// ListAirable reads open priced markets by end date; an empty lane is every
// lane, limit 0 all of them.
func (s *Store) ListAirable(ctx context.Context, now time.Time, lane syntax.Lane, limit int) ([]market.Market, error) {
	return s.markets(ctx, s.pool, "market_airable", now, string(lane), limit)
}

// ListPrices reads the snapshots since from, oldest first, thinned to at most limit.
func (s *Store) ListPrices(ctx context.Context, id syntax.MarketID, from time.Time, limit int) ([]market.Point, error) {
	rows, err := s.reads.Query(ctx, query("market_prices"), string(id), from, limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list prices: %w", err))
	}
	points, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p market.Point, err error) {
		err = row.Scan(&p.At, &p.Yes)
		return p, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list prices: %w", err))
	}
	return points, nil
}

// ListNative reads native markets, newest first.
func (s *Store) ListNative(ctx context.Context, status market.NativeStatus, due bool, limit int, now time.Time) ([]market.Native, error) {
	rows, err := s.reads.Query(ctx, query("market_natives"), string(status), due, now, now.Add(-market.ProposalLife), limit)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list native markets: %w", err))
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n market.Native, err error) {
		var verdict *syntax.Verdict
		var proof *string
		var at *time.Time
		err = row.Scan(append(marketFields(&n.Market), &verdict, &proof, &at)...)
		if verdict != nil && at != nil {
			n.Proposal = &market.Proposal{Verdict: *verdict, ProofURL: proof, At: *at}
		}
		return n, err
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list native markets: %w", err))
	}
	return list, nil
}

func (s *Store) markets(ctx context.Context, from queryer, name string, args ...any) ([]market.Market, error) {
	rows, err := from.Query(ctx, query(name), args...)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	list, err := pgx.CollectRows(rows, scanMarket)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("%s: %w", name, err))
	}
	for i := range list {
		list[i].Rated = list[i].RatedBy(s.rules.RatedMinVolumeUSD, s.rules.RatedCreators)
	}
	return list, nil
}

// SetRated sets whether calls on a market count, with an entry in the audit log. Fault:
// market_not_found, already_resolved.
func (s *Store) SetRated(ctx context.Context, id syntax.MarketID, rated bool, reason string, now time.Time) error {
	return pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		var was *bool
		switch err := tx.QueryRow(ctx, query("market_rate"), string(id), rated, now).Scan(&was); {
		case errors.Is(err, pgx.ErrNoRows):
			return market.ErrNotFound
		case err != nil:
			return fmt.Errorf("set rated: %w", err)
		}
		// A claim locks the market too, so this statement sees one that the update waited for.
		// The outcome stores whether the market was rated: a later change has no effect.
		switch o, found, err := readClaimed(ctx, tx, string(id)); {
		case err != nil:
			return err
		case found:
			return resolve.ErrResolved.With("outcome", o.Members())
		}
		return audit(ctx, tx, now, "market.rated", string(id), map[string]any{"from": was, "to": rated, "reason": reason})
	})
}

func scanMarket(row pgx.CollectableRow) (m market.Market, err error) {
	err = row.Scan(marketFields(&m)...)
	return m, err
}

// marketFields are the places of the columns that every market statement lists.
func marketFields(m *market.Market) []any {
	return []any{
		&m.ID, &m.Provider, &m.Title, &m.Description, &m.EndDate, &m.Status, &m.Provisional, &m.Disputed,
		&m.ClosedAt, &m.ProvisionalAt, &m.FinalVerdict, &m.FinalAt, &m.FinalPayout, &m.Verdict, &m.ClosePrice,
		&m.Lane, &m.Category, &m.Slug, &m.EventKey, &m.EventTitle, &m.ConditionID, &m.ClobTokenID, &m.YesIndex,
		&m.Outcomes, &m.ImageURL, &m.URL, &m.VolumeUnit, &m.Yes, &m.PricedAt,
		&m.Volume, &m.VolumeUSD, &m.Volume24h, &m.Liquidity, &m.FetchedAt, &m.CreatedAt, &m.UpdatedAt,
		&m.ResolvesBy, &m.ResolutionSource, &m.InitialYes, &m.CreatedBy,
		&m.YesCount, &m.NoCount, &m.CrowdYes, &m.CrowdNo, &m.Takes, &m.Streams, &m.RatedRuling, &m.Creator,
	}
}
