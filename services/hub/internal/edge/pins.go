package edge

import (
	"context"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// pinned is what stands in front of a heatmap, in order.
type pinned struct {
	ids  []string
	pins []market.Pin
}

// pinned reads the pins of a mode; that of markets which end soon has none.
func (s *server) pinned(ctx context.Context, mode string) (pinned, error) {
	if mode != "" {
		return pinned{}, nil
	}
	pins, err := s.Pins.Pins(ctx, market.MaxTiles)
	if err != nil {
		return pinned{}, err
	}
	out := pinned{pins: pins, ids: make([]string, len(pins))}
	for i := range pins {
		out.ids[i] = string(pins[i].MarketID)
	}
	return out, nil
}

// over puts the words of a tile's pin over its own.
func (p pinned) over(t openapi.Tile) openapi.Tile {
	i := slices.Index(p.ids, t.MarketID)
	if i < 0 {
		return t
	}
	if label := p.pins[i].Label; label != nil {
		t.Label = *label
	}
	if tagline := p.pins[i].Tagline; tagline != nil {
		t.Tagline = *tagline
	}
	return t
}

// listPins is GET /api/admin/pins.
func (s *server) listPins(c echo.Context) error {
	var pins []market.Pin
	err := s.audited(c, act{}, func(ctx context.Context) (err error) {
		pins, err = s.Pins.Pins(ctx, market.MaxPins)
		return err
	})
	if err != nil {
		return err
	}
	out := openapi.Pins{Pins: make([]openapi.Pin, 0, len(pins)), Count: int64(len(pins))}
	for i := range pins {
		out.Pins = append(out.Pins, showPin(&pins[i]))
	}
	return web.OK(c, out)
}

// pin is POST /api/admin/pins.
func (s *server) pin(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	p := market.Pin{
		MarketID: readMarketID(o, "marketId"), Label: orNull(o.Name("label", market.MaxPinText, false)),
		Tagline: optText(o, "tagline", market.MaxPinText), Position: market.MaxPosition, CreatedAt: s.Now(),
	}
	if p.MarketID != "" && p.MarketID.Provider() != syntax.Polymarket {
		o.Invalid("marketId", "is not of the primary venue")
	}
	if n := opt32(o, "position", market.MinPosition, market.MaxPosition); n != nil {
		p.Position = *n
	}
	if err := o.Err(); err != nil {
		return err
	}
	err = s.audited(c, act{target: string(p.MarketID), detail: p}, func(ctx context.Context) (err error) {
		if _, err = s.readMarket(ctx, p.MarketID); err != nil {
			return unknownMarket(err, p.MarketID)
		}
		p, err = s.Pins.Pin(ctx, p)
		return err
	})
	if err != nil {
		return err
	}
	s.tiles.pages.Drop("")
	return web.OK(c, openapi.PinKept{Ok: true, Pin: showPin(&p)})
}

// unpin is DELETE /api/admin/pins.
func (s *server) unpin(c echo.Context) error {
	raw := c.QueryParam("marketId")
	if raw == "" {
		return market.ErrMissingID.With("field", "marketId")
	}
	id, err := syntax.ParseMarketID(raw)
	if err != nil || id.Provider() != syntax.Polymarket {
		return errMarketID
	}
	var removed bool
	err = s.audited(c, act{target: string(id)}, func(ctx context.Context) (err error) {
		removed, err = s.Pins.Unpin(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	s.tiles.pages.Drop("")
	return web.OK(c, openapi.Removed{Ok: true, Removed: removed})
}

// errMarketID refuses a write about what can be no market.
var errMarketID = fault.New(fault.Invalid, "invalid_market_id", "marketId has no known form").With("field", "marketId")

// unknownMarket makes a market that nobody knows the answer of a write about it.
func unknownMarket(err error, id syntax.MarketID) error {
	if fault.Of(err).Kind == fault.NotFound {
		return market.ErrNotFound.With("marketId", string(id))
	}
	return err
}

func showPin(p *market.Pin) openapi.Pin {
	return openapi.Pin{
		MarketID: string(p.MarketID), Label: p.Label, Tagline: p.Tagline, Position: int64(p.Position),
		CreatedAt: syntax.Stamp(p.CreatedAt),
	}
}
