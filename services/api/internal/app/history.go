package app

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/history"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// pastPrices implements history.Markets with the market service.
type pastPrices struct{ markets *market.Service }

// Book implements history.Markets. Error: history.ErrUnknown for a market that does not exist.
func (p pastPrices) Book(ctx context.Context, id protocol.MarketID) (history.Book, error) {
	m, err := p.markets.Get(ctx, id)
	if errors.Is(err, market.ErrNotFound) {
		return history.Book{}, history.ErrUnknown
	}
	if err != nil {
		return history.Book{}, err
	}
	b := history.Book{Provider: m.Provider, TokenID: m.ClobTokenID, YesIndex: m.YesIndex}
	if m.Status == protocol.MarketClosed || m.Status == protocol.MarketResolved {
		b.ClosedAt = m.ClosedAt
	}
	return b, nil
}

// Snapshots implements history.Markets. It returns at most one point for each second.
func (p pastPrices) Snapshots(ctx context.Context, id protocol.MarketID, from time.Time) ([]history.Point, error) {
	list, err := p.markets.ListPrices(ctx, id, from)
	if err != nil {
		return nil, err
	}
	out := make([]history.Point, 0, len(list))
	for _, s := range list {
		point := history.Point{T: s.At.Unix(), P: history.Probability(s.Yes)}
		if n := len(out); n > 0 && out[n-1].T == point.T { // of several points in one second, only the last remains
			out[n-1] = point
			continue
		}
		out = append(out, point)
	}
	return out, nil
}
