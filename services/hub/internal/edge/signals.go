package edge

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type signalJSON struct {
	ID                string  `json:"id"`
	PrivyID           string  `json:"privyId"` // masked; the name is kept for old clients
	Callsign          *string `json:"callsign"`
	MarketID          string  `json:"marketId"`
	MarketTitle       string  `json:"marketTitle"`
	Direction         string  `json:"direction"`
	PriceAtPrediction int     `json:"priceAtPrediction"`
	CrowdYesAtSignal  *int32  `json:"crowdYesAtSignal"`
	Confidence        *int32  `json:"confidence"`
	TextTake          *string `json:"textTake"`
	Status            string  `json:"status"`
	Score             *int32  `json:"score"`
	CreatedAt         string  `json:"createdAt"`
	ResolvedAt        *string `json:"resolvedAt"`
	TimeToResolution  *int32  `json:"timeToResolution"`
	Source            *string `json:"source"`
	Outcome           *string `json:"outcome"`
	ClosePrice        *int32  `json:"closePrice"`
	ClvBps            *int32  `json:"clvBps"`
	factsJSON
}

// factsJSON is what the ledger stores with a call besides what the caller stated. Every
// object of a call has it.
type factsJSON struct {
	MarketYesAtSignal *int32  `json:"marketYesAtSignal"`
	ClosesAtSignal    *string `json:"closesAtSignal"`
	ScoreBasisBps     int     `json:"scoreBasisBps"`
	PriceVerified     bool    `json:"priceVerified"`
	Rated             bool    `json:"rated"`
	Counted           *bool   `json:"counted"`
	Reason            *string `json:"reason"`
	QuoteAt           *string `json:"quoteAt"`
	ConfirmedAt       *string `json:"confirmedAt"`
}

type eventsJSON struct {
	SignalID string      `json:"signalId"`
	Events   []eventJSON `json:"events"`
}

// receiptJSON is a signal with everything that belongs to it.
type receiptJSON struct {
	signalJSON
	Events     []eventJSON      `json:"events"`
	Resolution *openapi.Outcome `json:"resolution"`
}

// signal is GET /api/signals/{id}.
func (s *server) signal(c echo.Context) error {
	id, ok := parseUUID(c.Param("id"))
	if !ok {
		return signal.ErrUnknown
	}
	found, err := s.Reads.Signal(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return tagged(c, showSignal(found))
}

// events is GET /api/signals/{id}/events.
func (s *server) events(c echo.Context) error {
	id, ok := parseUUID(c.Param("id"))
	if !ok {
		return signal.ErrUnknown
	}
	list, err := s.Reads.Events(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return tagged(c, eventsJSON{SignalID: id, Events: showEvents(list)})
}

// receipt is the JSON of GET /receipts/{id}.
func (s *server) receipt(c echo.Context) error {
	id, ok := parseUUID(c.Param("id"))
	if !ok {
		return signal.ErrUnknown
	}
	ctx := c.Request().Context()
	found, err := s.Reads.Signal(ctx, id)
	if err != nil {
		return err
	}
	list, err := s.Reads.Events(ctx, id)
	if err != nil {
		return err
	}
	record, err := s.Resolutions.Outcome(ctx, found.MarketID)
	if err != nil {
		return err
	}
	out := receiptJSON{signalJSON: showSignal(found), Events: showEvents(list)}
	if record != nil {
		shown := showOutcome(*record)
		out.Resolution = &shown
	}
	return tagged(c, out)
}

func showEvents(list []signal.Event) []eventJSON {
	out := make([]eventJSON, 0, len(list))
	for _, e := range list {
		out = append(out, showEvent(e))
	}
	return out
}

func showSignal(s signal.Signal) signalJSON {
	return signalJSON{
		ID: s.ID, PrivyID: string(s.PublicID), Callsign: orNull(s.Handle),
		MarketID: string(s.MarketID), MarketTitle: s.MarketTitle,
		Direction: string(s.Direction), PriceAtPrediction: int(s.Price),
		CrowdYesAtSignal: s.CrowdYes, Confidence: s.Confidence, TextTake: s.TextTake,
		Status: string(s.Status), Score: s.Score,
		CreatedAt: syntax.Stamp(s.CreatedAt), ResolvedAt: syntax.StampOrNull(s.ResolvedAt),
		TimeToResolution: s.TimeToResolution, Source: s.Source,
		Outcome: s.Outcome, ClosePrice: s.ClosePrice, ClvBps: s.Clv, factsJSON: showFacts(&s),
	}
}

func showFacts(s *signal.Signal) factsJSON {
	return factsJSON{
		MarketYesAtSignal: s.MarketYes, ClosesAtSignal: syntax.StampOrNull(s.ClosesAt), ScoreBasisBps: int(s.ScoreBasis),
		PriceVerified: s.PriceVerified, Rated: s.Rated, Counted: s.Counted, Reason: orNull(s.Reason),
		QuoteAt: syntax.StampOrNull(s.QuoteAt), ConfirmedAt: syntax.StampOrNull(s.ConfirmedAt),
	}
}

// orNull returns nil for the zero value: null, or a member that is left out.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
