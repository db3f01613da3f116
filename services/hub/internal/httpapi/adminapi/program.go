package adminapi

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// Preempts handles GET /api/broadcast/preempt, which lists the entries that administrators have added to the programme.
func (s *Server) Preempts(c echo.Context) error {
	list, err := request.Audited(c, s.Audits, request.AdminAction{}, func(ctx context.Context) ([]*programv1.Preempt, error) {
		if s.Programs == nil {
			return nil, program.ErrUnavailable
		}
		answer, err := s.Programs.ListPreempts(ctx, &programv1.ListPreemptsRequest{})
		return answer.GetItems(), program.ClockError(err)
	})
	return view.OK(c, openapi.Preempts{Items: view.List(list, showPreempt), Count: int64(len(list))}, err)
}

// Preempt handles POST /api/broadcast/preempt, which adds an entry to the programme. If the body has the member "action", it
// cancels an entry instead.
func (s *Server) Preempt(c echo.Context, o httpx.Object) error {
	if o.Has("action") {
		return s.cancelPreempt(c, o)
	}
	d := program.Draft{
		MarketID: request.MarketID(o, "marketId"), Lane: o.String("lane", 32, false),
		StartsAt: request.Time(o, "startsAt", false),
		Reason:   o.Line("reason", program.MaxReason, false),
	}
	if n := request.Opt32(o, "slots", 1, program.MaxSlots); n != nil {
		d.Slots = *n
	}
	readID(o, false) // the id is not used, but an invalid id is still an error
	if err := o.Err(); err != nil {
		return err
	}
	act := request.AdminAction{Target: string(d.MarketID), Detail: d}
	made, err := request.Audited(c, s.Audits, act, func(ctx context.Context) (*programv1.Preempt, error) {
		if s.Director == nil {
			return nil, program.ErrUnavailable
		}
		if _, err := s.Ledger.Market(ctx, d.MarketID); err != nil {
			return nil, market.WriteError(err, d.MarketID)
		}
		answer, err := s.Director.CreatePreempt(ctx, d.Request())
		return answer.GetItem(), program.ClockError(err)
	})
	return view.Created(c, openapi.Preempted{Ok: true, Item: showPreempt(made)}, err)
}

// cancelPreempt cancels the programme entry with the id in the body.
func (s *Server) cancelPreempt(c echo.Context, o httpx.Object) error {
	o.Enum("action", "cancel")
	id := readID(o, true)
	if err := o.Err(); err != nil {
		return err
	}
	ended, err := request.Audited(c, s.Audits, request.AdminAction{Target: id}, func(ctx context.Context) (*programv1.Preempt, error) {
		if s.Director == nil {
			return nil, program.ErrUnavailable
		}
		answer, err := s.Director.CancelPreempt(ctx, &programv1.CancelPreemptRequest{Id: id})
		return answer.GetItem(), program.ClockError(err)
	})
	return view.OK(c, openapi.Preempted{Ok: true, Item: showPreempt(ended)}, err)
}

// readID reads the id of a programme entry, which is a UUID. It records an invalid id as an error of o, and also a missing id
// if need is true.
func readID(o httpx.Object, need bool) string {
	raw := o.String("id", httpx.BodyLimit, need)
	id, ok := request.ParseUUID(raw)
	if !ok && (raw != "" || o.Has("id")) {
		o.Invalid("id", "must be a UUID")
	}
	return id
}

func showPreempt(p *programv1.Preempt) openapi.Preempt {
	return openapi.Preempt{
		ID: p.GetId(), Lane: p.GetLane(), MarketID: p.GetMarketId(), StartsAt: ledgerclient.Stamp(p.GetStartsAt()),
		Slots: int64(p.GetSlots()), Reason: httpx.OrNull(p.GetReason()), Status: p.GetStatus(),
		CreatedAt: ledgerclient.Stamp(p.GetCreatedAt()),
	}
}

// ListPins handles GET /api/admin/pins, which lists the pinned markets.
func (s *Server) ListPins(c echo.Context) error {
	pins, err := request.Audited(c, s.Audits, request.AdminAction{}, func(ctx context.Context) ([]market.Pin, error) {
		return s.Pins.Pins(ctx, market.MaxPins)
	})
	return view.OK(c, openapi.Pins{Pins: view.List(pins, showPin), Count: int64(len(pins))}, err)
}

// Pin handles POST /api/admin/pins, which pins a market of the primary venue.
func (s *Server) Pin(c echo.Context, o httpx.Object) error {
	p := market.Pin{
		MarketID: request.MarketID(o, "marketId"), Label: httpx.OrNull(o.Name("label", market.MaxPinText, false)),
		Tagline: request.OptText(o, "tagline", market.MaxPinText), Position: market.MaxPosition, CreatedAt: s.Now(),
	}
	if p.MarketID != "" && p.MarketID.Provider() != protocol.Polymarket {
		o.Invalid("marketId", "must be the id of a Polymarket market: 1 to 20 digits without a leading zero")
	}
	if n := request.Opt32(o, "position", market.MinPosition, market.MaxPosition); n != nil {
		p.Position = *n
	}
	if err := o.Err(); err != nil {
		return err
	}
	act := request.AdminAction{Target: string(p.MarketID), Detail: p}
	p, err := request.Audited(c, s.Audits, act, func(ctx context.Context) (market.Pin, error) {
		if _, err := s.Ledger.Market(ctx, p.MarketID); err != nil {
			return p, market.WriteError(err, p.MarketID)
		}
		return s.Pins.Pin(ctx, p)
	})
	if err == nil {
		s.TilePages.Pages.Drop("")
	}
	return view.OK(c, openapi.PinKept{Ok: true, Pin: showPin(p)}, err)
}

// Unpin handles DELETE /api/admin/pins, which removes the pin of a market.
func (s *Server) Unpin(c echo.Context) error {
	raw := c.QueryParam("marketId")
	if raw == "" {
		return market.ErrMissingID.With("field", "marketId")
	}
	id, err := protocol.ParseMarketID(raw)
	if err != nil || id.Provider() != protocol.Polymarket {
		return protocol.ErrMarketID.WithText("marketId must be the id of a Polymarket market: 1 to 20 digits without a leading zero")
	}
	removed, err := request.Audited(c, s.Audits, request.AdminAction{Target: string(id)}, func(ctx context.Context) (bool, error) {
		return s.Pins.Unpin(ctx, id)
	})
	if err == nil {
		s.TilePages.Pages.Drop("")
	}
	return view.OK(c, openapi.Removed{Ok: true, Removed: removed}, err)
}

func showPin(p market.Pin) openapi.Pin {
	return openapi.Pin{
		MarketID: string(p.MarketID), Label: p.Label, Tagline: p.Tagline, Position: int64(p.Position),
		CreatedAt: protocol.Stamp(p.CreatedAt),
	}
}
