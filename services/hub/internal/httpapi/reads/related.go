package reads

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Related handles GET /api/m/{marketId}/related, the markets that are related to a market.
func (s *Server) Related(c echo.Context, id protocol.MarketID) error {
	return view.Serve(c, s.relatedPages, string(id), func(ctx context.Context) ([]byte, error) {
		r, err := s.Ledger.Catalogue.GetRelated(ctx, &cataloguev1.GetRelatedRequest{MarketId: string(id)})
		if err != nil {
			return nil, market.ReadError(err)
		}
		show := func(one *cataloguev1.Relation) openapi.RelatedMarket {
			return showRelated(one.GetMarket(), one.GetRelation(), one.GetSimilarity())
		}
		return httpx.Marshal(openapi.Related{
			Active: showRelated(r.GetActive(), "self", 1), Related: view.List(r.GetRelated(), show),
		})
	})
}

func showRelated(m *marketv1.Market, relation string, similarity float64) openapi.RelatedMarket {
	return openapi.RelatedMarket{
		MarketID: m.GetId(), Title: m.GetTitle(), YesBps: openapi.Int(m.YesBps), Volume: m.VolumeUsd,
		EndDate: ledgerclient.StampOrNull(m.GetEndDate()), Status: m.GetStatus(), Provider: m.GetProvider(), Lane: m.GetLane(),
		Route: "/m/" + m.GetId(), EventKey: httpx.OrNull(m.GetEventKey()), Relation: relation, Similarity: similarity,
	}
}

// Sentiment handles GET /api/m/{marketId}/sentiment, a score and a label for the direction of the calls on a market.
func (s *Server) Sentiment(c echo.Context, id protocol.MarketID) error {
	m, err := s.Ledger.Catalogue.GetSentiment(c.Request().Context(), &cataloguev1.GetSentimentRequest{MarketId: string(id)})
	if err != nil {
		return market.ReadError(err)
	}
	shown := showSentiment(id, m)
	undated := shown
	undated.UpdatedAt = ""
	return httpx.TaggedBy(c, shown, undated)
}

func showSentiment(id protocol.MarketID, m *cataloguev1.GetSentimentResponse) openapi.Sentiment {
	out := openapi.Sentiment{
		MarketID: string(id), Score: int64(market.Score(m)), Label: market.Label(m), Sample: m.GetYes() + m.GetNo(),
		Takes: openapi.Sentiment_Takes{Total: m.GetTakesYes() + m.GetTakesNo(), Yes: m.GetTakesYes(), No: m.GetTakesNo()},
		Confidence: openapi.Sentiment_Confidence{
			YesMean: view.Whole(m.ConfidenceYes), NoMean: view.Whole(m.ConfidenceNo),
		},
		Momentum:  openapi.Sentiment_Momentum{Window: "24h", YesDeltaBps: openapi.Int(m.Move24HBps), Signals: m.GetSignals24H()},
		UpdatedAt: ledgerclient.Stamp(m.GetUpdatedAt()),
	}
	if out.Sample > 0 {
		yes := view.SharePercent(m.GetYes(), out.Sample)
		out.YesPercent = &yes
		if price := m.GetMarket().YesBps; price != nil {
			gap := 100*yes - int64(*price)
			out.CrowdGapBps = &gap
		}
	}
	return out
}
