package edge

import (
	"math"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// oneThing makes a market that nobody knows the answer of a read of one thing.
func oneThing(err error) error {
	if err != nil && fault.Of(err).Kind == fault.NotFound {
		return market.ErrUnknown
	}
	return err
}

// related is GET /api/m/{marketId}/related.
func (s *server) related(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	r, err := s.Catalogue.Related(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	out := openapi.Related{Active: showRelated(&r.Active, "self", 1), Related: make([]openapi.RelatedMarket, 0, len(r.Related))}
	for i := range r.Related {
		out.Related = append(out.Related, showRelated(&r.Related[i].Market, r.Related[i].Relation, r.Related[i].Similarity))
	}
	return tagged(c, out)
}

func showRelated(m *market.Market, relation string, similarity float64) openapi.RelatedMarket {
	return openapi.RelatedMarket{
		MarketID: string(m.ID), Title: m.Title, YesBps: openapi.Int(m.Yes), Volume: m.VolumeUSD,
		EndDate: syntax.StampOrNull(m.EndDate),
		Status:  string(m.Status), Provider: string(m.Provider), Lane: string(m.Lane), Route: "/m/" + string(m.ID),
		EventKey: orNull(m.EventKey), Relation: relation, Similarity: similarity,
	}
}

// sentiment is GET /api/m/{marketId}/sentiment.
func (s *server) sentiment(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	m, err := s.Catalogue.Sentiment(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	shown := showSentiment(id, &m)
	undated := shown
	undated.UpdatedAt = ""
	return taggedBy(c, shown, undated)
}

func showSentiment(id syntax.MarketID, m *market.Sentiment) openapi.Sentiment {
	out := openapi.Sentiment{
		MarketID: string(id), Score: int64(m.Score()), Label: m.Label(), Sample: m.Yes + m.No,
		Takes:      openapi.Sentiment_Takes{Total: m.TakesYes + m.TakesNo, Yes: m.TakesYes, No: m.TakesNo},
		Confidence: openapi.Sentiment_Confidence{YesMean: openapi.Int(whole(m.ConfidenceYes)), NoMean: openapi.Int(whole(m.ConfidenceNo))},
		Momentum:   openapi.Sentiment_Momentum{Window: "24h", YesDeltaBps: openapi.Int(m.Move24h), Signals: m.Signals24h},
		UpdatedAt:  syntax.Stamp(m.UpdatedAt),
	}
	if out.Sample > 0 {
		yes := sharePercent(m.Yes, out.Sample)
		out.YesPercent = &yes
		if m.Market.Yes != nil {
			gap := 100*yes - int64(*m.Market.Yes)
			out.CrowdGapBps = &gap
		}
	}
	return out
}

// whole rounds a number that may be missing.
func whole(v *float64) *int {
	if v == nil {
		return nil
	}
	n := int(math.Round(*v))
	return &n
}
