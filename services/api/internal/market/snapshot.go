package market

import (
	"context"
	"errors"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Snapshot gives the YES price of a market's newest snapshot of at most
// SnapshotAge; nil when there is none. Faults: market_not_found, db_unavailable.
func (s *Service) Snapshot(ctx context.Context, id syntax.MarketID) (*syntax.Bps, error) {
	m, err := s.Get(ctx, id)
	switch {
	case errors.Is(err, ErrUnavailable):
		return nil, nil
	case err != nil:
		return nil, err
	case m.Yes != nil:
		return m.Yes, nil
	}
	// What is too old to be shown may be young enough to be paid.
	kept, found, err := s.store.FindMarket(ctx, id)
	if err != nil || !found || kept.Yes == nil || kept.PricedAt == nil || s.now().Sub(*kept.PricedAt) > SnapshotAge {
		return nil, err
	}
	return kept.Yes, nil
}
