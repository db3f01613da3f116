package edge

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
)

// overlaySignal is GET /api/streamer/signal?handle=. Whoever is not there has none.
func (s *server) overlaySignal(c echo.Context) error {
	handle, err := readHandle(c)
	if err != nil {
		return err
	}
	o, set, err := s.OnAir.Overlay(c.Request().Context(), handle)
	if err != nil {
		return err
	}
	return tagged(c, showOverlay(o, set))
}

func emptyOverlay(echo.Context) any { return openapi.NoOverlay{} }

// setOverlay is POST /api/streamer/signal. What the body does not say of the market is
// taken from the market, if it is known.
func (s *server) setOverlay(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	signal, err := s.readOverlay(ctx, o, callerOf(c).Operator.Handle)
	if err != nil {
		return err
	}
	kept, err := s.OnAir.SetOverlay(ctx, signal)
	if err != nil {
		return err
	}
	return web.OK(c, openapi.OverlaySet{Ok: true, Signal: overlaySignalOf(kept)})
}

// readOverlay reads a signal that somebody wants over the picture.
func (s *server) readOverlay(ctx context.Context, o web.Object, handle syntax.Handle) (onair.Overlay, error) {
	signal := onair.Overlay{
		Handle: handle, MarketID: readMarketID(o, "marketId"), Name: o.Line("name", onair.MaxName, true),
		YesPct: o.OptNumber("yesPct", 0, 100),
	}
	if signal.Slug = o.OptString("slug", web.BodyLimit); signal.Slug != nil && !onair.IsSlug(*signal.Slug) {
		o.Invalid("slug", "must be 1 to 120 of a-z, 0-9 and -")
	}
	signal.Annotation = o.OptLine("annotation", onair.MaxAnnotation)
	signal.ClosesAt = readTime(o, "closesAt", false)
	if err := o.Err(); err != nil {
		return onair.Overlay{}, err
	}
	s.fillOverlay(ctx, &signal)
	return signal, nil
}

// overlayTime bounds the question what a market stands at.
const overlayTime = 500 * time.Millisecond

// fillOverlay adds the price and the slug of the market. They are no part of what the
// caller asked for, so without them the signal is set all the same.
func (s *server) fillOverlay(ctx context.Context, o *onair.Overlay) {
	if o.YesPct != nil && o.Slug != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, overlayTime)
	defer cancel()
	m, err := s.readMarket(ctx, o.MarketID)
	if err != nil {
		return
	}
	if o.YesPct == nil && m.YesBps != nil {
		pct := float64(m.GetYesBps()) / 100
		o.YesPct = &pct
	}
	if o.Slug == nil && onair.IsSlug(m.GetSlug()) {
		o.Slug = orNull(m.GetSlug())
	}
}

// clearOverlay is DELETE /api/streamer/signal.
func (s *server) clearOverlay(c echo.Context) error {
	if err := s.OnAir.ClearOverlay(c.Request().Context(), callerOf(c).Operator.Handle); err != nil {
		return err
	}
	return web.OK(c, openapi.OverlayCleared{Ok: true})
}

func showOverlay(o onair.Overlay, set bool) any {
	if !set {
		return openapi.NoOverlay{}
	}
	return overlaySignalOf(o)
}

func overlaySignalOf(o onair.Overlay) openapi.OverlaySignal {
	out := openapi.OverlaySignal{
		MarketID: string(o.MarketID), Name: o.Name, YesPct: o.YesPct, StreamerID: string(o.Handle), Slug: o.Slug,
		UpdatedAt: syntax.Stamp(o.UpdatedAt), Annotation: o.Annotation,
	}
	if !o.ClosesAt.IsZero() {
		out.ClosesAt = orNull(syntax.Stamp(o.ClosesAt))
	}
	return out
}
