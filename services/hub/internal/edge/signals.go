package edge

import (
	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
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
	r, err := s.Ledger.Signals.GetSignal(c.Request().Context(), &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return err
	}
	return tagged(c, showSignal(r.GetSignal()))
}

// events is GET /api/signals/{id}/events.
func (s *server) events(c echo.Context) error {
	id, ok := parseUUID(c.Param("id"))
	if !ok {
		return signal.ErrUnknown
	}
	list, err := s.Ledger.Signals.ListEvents(c.Request().Context(), &signalv1.ListEventsRequest{SignalId: id})
	if err != nil {
		return err
	}
	return tagged(c, eventsJSON{SignalID: id, Events: showEvents(list.GetEvents())})
}

// receipt is the JSON of GET /receipts/{id}.
func (s *server) receipt(c echo.Context) error {
	id, ok := parseUUID(c.Param("id"))
	if !ok {
		return signal.ErrUnknown
	}
	ctx := c.Request().Context()
	found, err := s.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return err
	}
	list, err := s.Ledger.Signals.ListEvents(ctx, &signalv1.ListEventsRequest{SignalId: id})
	if err != nil {
		return err
	}
	outcome, err := s.readOutcome(ctx, syntax.MarketID(found.GetSignal().GetMarketId()))
	if err != nil {
		return err
	}
	return tagged(c, receiptJSON{
		signalJSON: showSignal(found.GetSignal()), Events: showEvents(list.GetEvents()), Resolution: showOutcome(outcome),
	})
}

func showEvents(list []*signalv1.Event) []eventJSON {
	out := make([]eventJSON, 0, len(list))
	for _, e := range list {
		out = append(out, showEvent(e))
	}
	return out
}

func showSignal(s *signalv1.Signal) signalJSON {
	return signalJSON{
		ID: s.GetId(), PrivyID: s.GetPublicId(), Callsign: orNull(s.GetHandle()),
		MarketID: s.GetMarketId(), MarketTitle: s.GetMarketTitle(),
		Direction: s.GetDirection(), PriceAtPrediction: int(s.GetPriceBps()),
		CrowdYesAtSignal: s.CrowdYesBps, Confidence: s.Confidence, TextTake: s.TextTake,
		Status: s.GetStatus(), Score: s.Score,
		CreatedAt: stamp(s.GetCreatedAt()), ResolvedAt: stampOrNull(s.GetResolvedAt()),
		TimeToResolution: s.TimeToResolution, Source: s.Source,
		Outcome: s.Outcome, ClosePrice: s.ClosePriceBps, ClvBps: s.ClvBps, factsJSON: showFacts(s),
	}
}

func showFacts(s *signalv1.Signal) factsJSON {
	return factsJSON{
		MarketYesAtSignal: s.MarketYesBps, ClosesAtSignal: stampOrNull(s.GetClosesAt()), ScoreBasisBps: int(s.GetScoreBasisBps()),
		PriceVerified: s.GetPriceVerified(), Rated: s.GetRated(), Counted: s.Counted, Reason: orNull(s.GetReason()),
		QuoteAt: stampOrNull(s.GetQuoteAt()), ConfirmedAt: stampOrNull(s.GetConfirmedAt()),
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
