package liveapi

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// dryOverlayJSON is the response to a dry run that sets an overlay.
type dryOverlayJSON struct {
	openapi.OverlaySignal
	DryRun bool `json:"dryRun"`
}

// dryClearedJSON is the response to a dry run that clears the overlay.
type dryClearedJSON struct {
	openapi.NoOverlay
	DryRun bool `json:"dryRun"`
}

// ToolOverlay is the MCP tool set_live_signal, which sets or clears an overlay as POST and DELETE /api/streamer/signal do.
func (s *Server) ToolOverlay(ctx context.Context, who caller.Caller, o httpx.Object) (any, error) {
	handle, err := s.handleOf(ctx, who)
	if err != nil {
		return nil, err
	}
	dry := request.DryRun(o)
	if remove := o.OptBool("clear"); remove != nil && *remove {
		return s.toolClear(ctx, handle, o, dry)
	}
	overlay, err := s.readOverlay(ctx, o, handle)
	if err != nil {
		return nil, err
	}
	if dry {
		overlay.UpdatedAt = s.Now()
		return dryOverlayJSON{overlaySignalOf(overlay), true}, nil
	}
	stored, err := s.OnAir.SetOverlay(ctx, overlay)
	return openapi.OverlaySet{Ok: true, Signal: overlaySignalOf(stored)}, err
}

// toolClear clears the overlay. It rejects arguments other than "clear" and "dryRun".
func (s *Server) toolClear(ctx context.Context, handle protocol.Handle, o httpx.Object, dry bool) (any, error) {
	for _, name := range o.Names() {
		if name != "clear" && name != "dryRun" && o.Has(name) {
			o.Invalid("clear", "must be the only argument besides dryRun")
		}
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	if dry {
		return dryClearedJSON{DryRun: true}, nil
	}
	return openapi.OverlayCleared{Ok: true}, s.OnAir.ClearOverlay(ctx, handle)
}

// handleOf returns the handle of a caller. For an app token, it is the handle of the user who connected the app.
func (s *Server) handleOf(ctx context.Context, who caller.Caller) (protocol.Handle, error) {
	if who.Kind != caller.Token {
		return who.Operator.Handle, nil
	}
	op, err := operator.Directory{Ledger: s.Ledger.Operators}.ByID(ctx, who.Delegate.UserID)
	return op.Handle, err
}

// OverlaySignal handles GET /api/streamer/signal?handle=, the overlay of an operator. The response for an unknown operator is the
// same as without an overlay.
func (s *Server) OverlaySignal(c echo.Context, handle protocol.Handle) error {
	o, set, err := s.OnAir.Overlay(c.Request().Context(), handle)
	return view.Tagged(c, showOverlay(o, set), err)
}

// SetOverlay handles POST /api/streamer/signal, which sets the overlay of the caller. If the price or slug is missing,
// fillOverlay fills it in.
func (s *Server) SetOverlay(c echo.Context, o httpx.Object) error {
	ctx := c.Request().Context()
	signal, err := s.readOverlay(ctx, o, request.Caller(c).Operator.Handle)
	if err != nil {
		return err
	}
	set, err := s.OnAir.SetOverlay(ctx, signal)
	return view.OK(c, openapi.OverlaySet{Ok: true, Signal: overlaySignalOf(set)}, err)
}

// readOverlay reads an overlay from a body or from tool arguments. It fills in a missing price and slug from the market.
func (s *Server) readOverlay(ctx context.Context, o httpx.Object, handle protocol.Handle) (livestream.Overlay, error) {
	signal := livestream.Overlay{
		Handle: handle, MarketID: request.MarketID(o, "marketId"), Name: o.Line("name", livestream.MaxName, true),
		YesPct: o.OptNumber("yesPct", 0, 100),
	}
	if signal.Slug = o.OptString("slug", httpx.BodyLimit); signal.Slug != nil && !livestream.IsSlug(*signal.Slug) {
		o.Invalid("slug", "must be 1 to 120 characters of a-z, 0-9 and -")
	}
	signal.Annotation = o.OptLine("annotation", livestream.MaxAnnotation)
	signal.ClosesAt = request.Time(o, "closesAt", false)
	if err := o.Err(); err != nil {
		return livestream.Overlay{}, err
	}
	s.fillOverlay(ctx, &signal)
	return signal, nil
}

// marketTimeout is the time limit for reading the market of an overlay.
const marketTimeout = 500 * time.Millisecond

// outcomePct maps the outcome of a market to the final price of YES in percent.
var outcomePct = map[string]float64{
	string(protocol.VerdictYes): 100, string(protocol.VerdictNo): 0, string(protocol.VerdictInvalid): 50,
}

// fillOverlay sets YesPct and Slug of an overlay signal if they are missing. YesPct is the YES price of the market. Without a
// price, it is 100, 0 or 50, according to the outcome. Slug is the slug of the market, or else the result of SlugOf. YesPct stays
// nil if the market cannot be read, or if it has neither a price nor an outcome.
func (s *Server) fillOverlay(ctx context.Context, o *livestream.Overlay) {
	if o.YesPct != nil && o.Slug != nil {
		return
	}
	defer func() {
		if o.Slug == nil {
			o.Slug = httpx.OrNull(livestream.SlugOf(o.MarketID))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, marketTimeout)
	defer cancel()
	m, err := s.Ledger.Market(ctx, o.MarketID)
	if err != nil {
		return
	}
	pct, known := outcomePct[m.GetResolutionValue()]
	if m.YesBps != nil {
		pct, known = float64(m.GetYesBps())/100, true
	}
	if o.YesPct == nil && known {
		o.YesPct = &pct
	}
	if o.Slug == nil && livestream.IsSlug(m.GetSlug()) {
		o.Slug = httpx.OrNull(m.GetSlug())
	}
}

// ClearOverlay handles DELETE /api/streamer/signal, which removes the overlay of the caller.
func (s *Server) ClearOverlay(c echo.Context) error {
	err := s.OnAir.ClearOverlay(c.Request().Context(), request.Caller(c).Operator.Handle)
	return view.OK(c, openapi.OverlayCleared{Ok: true}, err)
}

func showOverlay(o livestream.Overlay, set bool) any {
	if !set {
		return openapi.NoOverlay{}
	}
	return overlaySignalOf(o)
}

func overlaySignalOf(o livestream.Overlay) openapi.OverlaySignal {
	out := openapi.OverlaySignal{
		MarketID: string(o.MarketID), Name: o.Name, YesPct: o.YesPct, StreamerID: string(o.Handle), Slug: o.Slug,
		UpdatedAt: protocol.Stamp(o.UpdatedAt), Annotation: o.Annotation,
	}
	if !o.ClosesAt.IsZero() {
		out.ClosesAt = httpx.OrNull(protocol.Stamp(o.ClosesAt))
	}
	return out
}
