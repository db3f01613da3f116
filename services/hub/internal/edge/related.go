package edge

import (
	"math"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
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
	r, err := s.Ledger.Catalogue.GetRelated(c.Request().Context(), &cataloguev1.GetRelatedRequest{MarketId: string(id)})
	if err != nil {
		return oneThing(err)
	}
	out := openapi.Related{
		Active: showRelated(r.GetActive(), "self", 1), Related: make([]openapi.RelatedMarket, 0, len(r.GetRelated())),
	}
	for _, one := range r.GetRelated() {
		out.Related = append(out.Related, showRelated(one.GetMarket(), one.GetRelation(), one.GetSimilarity()))
	}
	return tagged(c, out)
}

func showRelated(m *marketv1.Market, relation string, similarity float64) openapi.RelatedMarket {
	return openapi.RelatedMarket{
		MarketID: m.GetId(), Title: m.GetTitle(), YesBps: openapi.Int(m.YesBps), Volume: m.VolumeUsd,
		EndDate: ledgerclient.StampOrNull(m.GetEndDate()), Status: m.GetStatus(), Provider: m.GetProvider(), Lane: m.GetLane(),
		Route: "/m/" + m.GetId(), EventKey: orNull(m.GetEventKey()), Relation: relation, Similarity: similarity,
	}
}

// sentiment is GET /api/m/{marketId}/sentiment.
func (s *server) sentiment(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	m, err := s.Ledger.Catalogue.GetSentiment(c.Request().Context(), &cataloguev1.GetSentimentRequest{MarketId: string(id)})
	if err != nil {
		return oneThing(err)
	}
	shown := showSentiment(id, m)
	undated := shown
	undated.UpdatedAt = ""
	return taggedBy(c, shown, undated)
}

func showSentiment(id syntax.MarketID, m *cataloguev1.GetSentimentResponse) openapi.Sentiment {
	out := openapi.Sentiment{
		MarketID: string(id), Score: int64(market.Score(m)), Label: market.Label(m), Sample: m.GetYes() + m.GetNo(),
		Takes:      openapi.Sentiment_Takes{Total: m.GetTakesYes() + m.GetTakesNo(), Yes: m.GetTakesYes(), No: m.GetTakesNo()},
		Confidence: openapi.Sentiment_Confidence{YesMean: openapi.Int(whole(m.ConfidenceYes)), NoMean: openapi.Int(whole(m.ConfidenceNo))},
		Momentum:   openapi.Sentiment_Momentum{Window: "24h", YesDeltaBps: openapi.Int(m.Move24HBps), Signals: m.GetSignals24H()},
		UpdatedAt:  ledgerclient.Stamp(m.GetUpdatedAt()),
	}
	if out.Sample > 0 {
		yes := sharePercent(m.GetYes(), out.Sample)
		out.YesPercent = &yes
		if price := m.GetMarket().YesBps; price != nil {
			gap := 100*yes - int64(*price)
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
