package edge

import (
	"math"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

type relatedJSON struct {
	Active  relatedMarketJSON   `json:"active"`
	Related []relatedMarketJSON `json:"related"`
}

type relatedMarketJSON struct {
	MarketID   string   `json:"marketId"`
	Title      string   `json:"title"`
	YesBps     *int32   `json:"yesBps"`
	Volume     *float64 `json:"volume"`
	EndDate    *string  `json:"endDate"`
	Status     string   `json:"status"`
	Provider   string   `json:"provider"`
	Lane       string   `json:"lane"`
	Route      string   `json:"route"`
	EventKey   *string  `json:"eventKey"`
	Relation   string   `json:"relation"`
	Similarity float64  `json:"similarity"`
}

type sentimentJSON struct {
	MarketID    string             `json:"marketId"`
	Score       int                `json:"score"`
	Label       string             `json:"label"`
	YesPercent  *int64             `json:"yesPercent"`
	Sample      int64              `json:"sample"`
	Takes       takesJSON          `json:"takes"`
	Confidence  confidenceJSON     `json:"confidence"`
	Momentum    sentimentPulseJSON `json:"momentum"`
	CrowdGapBps *int64             `json:"crowdGapBps"`
	UpdatedAt   string             `json:"updatedAt"`
}

type takesJSON struct {
	Total int64 `json:"total"`
	Yes   int64 `json:"yes"`
	No    int64 `json:"no"`
}

type confidenceJSON struct {
	YesMean *int `json:"yesMean"`
	NoMean  *int `json:"noMean"`
}

type sentimentPulseJSON struct {
	Window      string `json:"window"`
	YesDeltaBps *int32 `json:"yesDeltaBps"`
	Signals     int64  `json:"signals"`
}

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
	r, err := s.catalogue.Related(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	out := relatedJSON{Active: showRelated(&r.Active, "self", 1), Related: make([]relatedMarketJSON, 0, len(r.Related))}
	for i := range r.Related {
		out.Related = append(out.Related, showRelated(&r.Related[i].Market, r.Related[i].Relation, r.Related[i].Similarity))
	}
	return tagged(c, out)
}

func showRelated(m *market.Market, relation string, similarity float64) relatedMarketJSON {
	return relatedMarketJSON{
		MarketID: string(m.ID), Title: m.Title, YesBps: m.Yes, Volume: m.VolumeUSD, EndDate: syntax.StampOrNull(m.EndDate),
		Status: string(m.Status), Provider: string(m.Provider), Lane: string(m.Lane), Route: "/m/" + string(m.ID),
		EventKey: orNull(m.EventKey), Relation: relation, Similarity: similarity,
	}
}

// sentiment is GET /api/m/{marketId}/sentiment.
func (s *server) sentiment(c echo.Context) error {
	id, err := marketParam(c)
	if err != nil {
		return err
	}
	m, err := s.catalogue.Sentiment(c.Request().Context(), id)
	if err != nil {
		return oneThing(err)
	}
	shown := showSentiment(id, &m)
	undated := shown
	undated.UpdatedAt = ""
	return taggedBy(c, shown, undated)
}

func showSentiment(id syntax.MarketID, m *market.Sentiment) sentimentJSON {
	out := sentimentJSON{
		MarketID: string(id), Score: m.Score(), Label: m.Label(), Sample: m.Yes + m.No,
		Takes:      takesJSON{m.TakesYes + m.TakesNo, m.TakesYes, m.TakesNo},
		Confidence: confidenceJSON{whole(m.ConfidenceYes), whole(m.ConfidenceNo)},
		Momentum:   sentimentPulseJSON{"24h", m.Move24h, m.Signals24h}, UpdatedAt: syntax.Stamp(m.UpdatedAt),
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
