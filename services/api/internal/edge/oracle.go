package edge

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/wire"
)

// oracleKey names the page of a market. What has no form of an id has none.
func oracleKey(raw string) (string, bool) {
	id, err := syntax.ParseMarketID(raw)
	return joinKey("market", string(id)), err == nil
}

// oracleMarket is GET /api/v1/oracle/markets/{marketId}. Faults: not_found,
// venue_unavailable, db_unavailable.
func (s *server) oracleMarket(c echo.Context) error {
	id, err := syntax.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return errNoMarket
	}
	key, _ := oracleKey(string(id))
	return s.attention.Serve(c.Response(), c.Request(), key, func(ctx context.Context) ([]byte, error) {
		out, err := s.aroundMarket(ctx, id)
		if err != nil {
			return nil, err
		}
		return web.Marshal(out)
	})
}

func (s *server) aroundMarket(ctx context.Context, id syntax.MarketID) (openapi.OracleMarket, error) {
	m, err := s.Markets.Get(ctx, id)
	if errors.Is(err, market.ErrNotFound) {
		return openapi.OracleMarket{}, errNoMarket
	}
	if err != nil {
		return openapi.OracleMarket{}, err
	}
	o, found, err := s.Outcomes.Outcome(ctx, string(id))
	if err != nil {
		return openapi.OracleMarket{}, err
	}
	out := openapi.OracleMarket{Market: s.showMarket(&m), Crowd: showCrowd(m.CrowdYes, m.CrowdNo)}
	if found {
		shown := showOutcome(o)
		out.Resolution, out.Market.Resolution = &shown, &shown
	}
	if m.Status != syntax.MarketOpen {
		return out, nil
	}
	row, at, err := s.Oracle.Score(ctx, id)
	switch {
	case err == nil:
		shown := showScore(&row, at)
		out.Attention = &shown
	case fault.Of(err).Kind != fault.NotFound: // else it opened a moment ago
		return openapi.OracleMarket{}, err
	}
	return out, nil
}

func (s *server) showMarket(m *market.Market) openapi.NetworkMarket {
	out := openapi.NetworkMarket{
		ID: string(m.ID), Provider: string(m.Provider), Title: m.Title, Volume: m.VolumeUSD, Status: string(m.Status),
		Outcome: text(m.Verdict), EndDate: stamp(m.EndDate), URL: cmp.Or(m.URL, s.marketURL(m.ID)),
		UpdatedAt: syntax.Stamp(m.UpdatedAt), Lane: string(m.Lane), EventKey: orNull(m.EventKey), ClobTokenID: orNull(m.ClobTokenID),
	}
	if m.Yes != nil {
		yes, no := m.Yes.Probability(), m.Yes.Of(syntax.No).Probability()
		out.YesPrice, out.NoPrice = &yes, &no
	}
	return out
}

func showCrowd(yes, no int64) openapi.NetworkCrowd {
	out := openapi.NetworkCrowd{TotalSignals: yes + no}
	if n := out.TotalSignals; n > 0 {
		percent := (200*yes + n) / (2 * n)
		rest := 100 - percent
		out.YesPercent, out.NoPercent = &percent, &rest
	}
	return out
}

func showOutcome(o resolve.Outcome) openapi.Outcome {
	return openapi.Outcome{
		Outcome: text(o.Verdict), Resolver: o.Resolver, Source: o.Source, ProofURL: o.ProofURL, ResolvedAt: stamp(o.ResolvedAt),
		Disputed: o.Disputed, DisputeReason: o.DisputeReason, DisputedAt: stamp(o.DisputedAt),
	}
}

func text[T ~string](s *T) *string {
	if s == nil {
		return nil
	}
	plain := string(*s)
	return &plain
}

func stamp(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return syntax.StampOrNull(*t)
}

// Oracle ranks open markets by attention.
type Oracle interface {
	Moves(ctx context.Context, w syntax.Window, lane syntax.Lane, limit int) ([]wire.Move, time.Time, error)
	Top(ctx context.Context, lane syntax.Lane, limit int) ([]oracle.Row, time.Time, error)
	// Score faults with not_found when the market is not open.
	Score(ctx context.Context, id syntax.MarketID) (oracle.Row, time.Time, error)
	History(ctx context.Context, id syntax.MarketID, span time.Duration) ([]oracle.Point, error)
}

// Markets reads markets. Faults: market_not_found, venue_unavailable.
type Markets interface {
	Get(ctx context.Context, id syntax.MarketID) (market.Market, error)
}

// Outcomes reads resolution records.
type Outcomes interface {
	Outcome(ctx context.Context, marketID string) (resolve.Outcome, bool, error)
}
