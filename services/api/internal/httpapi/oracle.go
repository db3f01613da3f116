package httpapi

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/attention"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

// oracleKey returns the cache key of a market. It returns false for an invalid market id, because its response is not cached.
func oracleKey(raw string) (string, bool) {
	id, err := protocol.ParseMarketID(raw)
	return httpcache.JoinKey("market", string(id)), err == nil
}

// oracleMarket handles GET /api/v1/oracle/markets/{marketId}: a market with its crowd, outcome and attention score. Errors:
// not_found, venue_unavailable, db_unavailable.
func (s *Server) oracleMarket(c echo.Context) error {
	id, err := protocol.ParseMarketID(c.Param("marketId"))
	if err != nil {
		return errNoMarket
	}
	key, _ := oracleKey(string(id))
	return serve(c, s.attention, key, func(ctx context.Context) (any, error) {
		m, err := s.Markets.Get(ctx, id)
		if errors.Is(err, market.ErrNotFound) {
			return nil, errNoMarket
		}
		if err != nil {
			return nil, err
		}
		o, found, err := s.Outcomes.Outcome(ctx, string(id))
		if err != nil {
			return nil, err
		}
		outcome, score := &o, (*attention.Row)(nil)
		if !found {
			outcome = nil
		}
		var at time.Time
		if m.Status == protocol.MarketOpen {
			var row attention.Row
			switch row, at, err = s.Oracle.Score(ctx, id); {
			case err == nil:
				score = &row
			case apperr.Of(err).Kind != apperr.NotFound: // else: the market opened after the attention was last computed
				return nil, err
			}
		}
		return s.showOracleMarket(&m, outcome, score, at), nil
	})
}

// showOracleMarket returns the JSON of a market. o is the outcome of the market, score is its attention score, and at is the
// time of the score. o and score may be nil.
func (s *Server) showOracleMarket(m *market.Market, o *resolution.Outcome, score *attention.Row, at time.Time) openapi.OracleMarket {
	out := openapi.OracleMarket{Market: s.showMarket(m), Crowd: showCrowd(m.CrowdYes, m.CrowdNo)}
	if o != nil {
		shown := showOutcome(*o)
		out.Resolution, out.Market.Resolution = &shown, &shown
	}
	if score != nil {
		shown := showScore(score, at)
		out.Attention = &shown
	}
	return out
}

func (s *Server) showMarket(m *market.Market) openapi.NetworkMarket {
	sides := m.Sides()
	out := openapi.NetworkMarket{
		ID: string(m.ID), Provider: string(m.Provider), Title: m.Title, Volume: m.VolumeUSD, Status: string(m.Status),
		Outcome: (*string)(m.Verdict), EndDate: stamp(m.EndDate), URL: cmp.Or(m.URL, s.marketURL(m.ID)),
		UpdatedAt: protocol.Stamp(m.UpdatedAt), Lane: string(m.Lane), EventKey: httpx.OrNull(m.EventKey),
		ClobTokenID: httpx.OrNull(m.ClobTokenID), Sides: openapi.MarketSides{Yes: sides[0], No: sides[1]},
	}
	if m.Yes != nil {
		yes, no := m.Yes.Probability(), m.Yes.Of(protocol.No).Probability()
		out.YesPrice, out.NoPrice, out.YesBps = &yes, &no, openapi.Int(m.Yes)
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

func showOutcome(o resolution.Outcome) openapi.Outcome {
	return openapi.Outcome{
		Outcome: (*string)(o.Verdict), Resolver: o.Resolver, Source: o.Source, ProofURL: o.ProofURL, ResolvedAt: stamp(o.ResolvedAt),
		Disputed: o.Disputed, DisputeReason: o.DisputeReason, DisputedAt: stamp(o.DisputedAt),
	}
}

func stamp(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return protocol.StampOrNull(*t)
}
