package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
)

// TakeUnconfirmed implements market.CatalogueStore.
func (s *Store) TakeUnconfirmed(ctx context.Context, now, before time.Time, limit int) ([]syntax.MarketID, error) {
	ids, err := s.q.ClaimUnconfirmedMarkets(ctx, db.ClaimUnconfirmedMarketsParams{Now: now, Before: before, Limit: int32(limit)})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list unconfirmed markets: %w", err))
	}
	return marketIDs(ids), nil
}

// DenyUnconfirmed implements market.CatalogueStore.
func (s *Store) DenyUnconfirmed(ctx context.Context, ids []syntax.MarketID, before, now time.Time) (int64, error) {
	n, err := s.q.DenyUnconfirmedSignals(ctx, db.DenyUnconfirmedSignalsParams{MarketIDs: neverNil(texts(ids)), Before: before, Now: now})
	return n, pg.Fault(wrap("void unconfirmed calls", err))
}

func marketIDs(ids []string) []syntax.MarketID {
	return pg.Collect(ids, func(id string) syntax.MarketID { return syntax.MarketID(id) })
}
