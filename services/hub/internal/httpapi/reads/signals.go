package reads

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

type eventsJSON struct {
	SignalID string       `json:"signalId"`
	Events   []view.Event `json:"events"`
}

// signalJSON is a call with its events.
type signalJSON struct {
	openapi.Signal
	Events []view.Event `json:"events"`
}

// receiptJSON is a call with its events and the resolution of its market.
type receiptJSON struct {
	signalJSON
	Resolution *openapi.Outcome `json:"resolution"`
}

// Signal handles GET /api/signals/{id}, one call.
func (s *Server) Signal(c echo.Context, id string) error {
	r, err := s.Ledger.Signals.GetSignal(c.Request().Context(), &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return err
	}
	return httpx.Tagged(c, view.ShowSignal(r.GetSignal()))
}

// Events handles GET /api/signals/{id}/events, the events of a call.
func (s *Server) Events(c echo.Context, id string) error {
	list, err := s.Ledger.Signals.ListEvents(c.Request().Context(), &signalv1.ListEventsRequest{SignalId: id})
	return view.Tagged(c, eventsJSON{SignalID: id, Events: view.ShowEvents(list.GetEvents())}, err)
}

// Receipt handles GET /receipts/{id} for clients that accept JSON: the call with its events and the outcome of its market.
func (s *Server) Receipt(c echo.Context, id string) error {
	ctx := c.Request().Context()
	shown, err := s.withEvents(ctx, id)
	if err != nil {
		return err
	}
	outcome, err := s.Ledger.Outcome(ctx, protocol.MarketID(shown.MarketID))
	return view.Tagged(c, receiptJSON{signalJSON: shown, Resolution: view.ShowOutcome(outcome)}, err)
}

// withEvents reads a call and its events. Error: not_found.
func (s *Server) withEvents(ctx context.Context, id string) (signalJSON, error) {
	found, err := s.Ledger.Signals.GetSignal(ctx, &signalv1.GetSignalRequest{Id: id})
	if err != nil {
		return signalJSON{}, err
	}
	list, err := s.Ledger.Signals.ListEvents(ctx, &signalv1.ListEventsRequest{SignalId: id})
	return signalJSON{view.ShowSignal(found.GetSignal()), view.ShowEvents(list.GetEvents())}, err
}
