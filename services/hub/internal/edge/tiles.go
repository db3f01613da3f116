package edge

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

type heatmapJSON struct {
	Source    string     `json:"source"`
	UpdatedAt string     `json:"updatedAt"`
	Tiles     []tileJSON `json:"tiles"`
}

type tileJSON struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Tagline     string   `json:"tagline"`
	Route       string   `json:"route"`
	TotalVol24h float64  `json:"totalVol24h"`
	TopMarket   string   `json:"topMarket"`
	TopYesPct   *float64 `json:"topYesPct"`
	MarketID    string   `json:"marketId"`
	Lane        string   `json:"lane"`
	MarketCount int32    `json:"marketCount"`
	Move24hBps  *int32   `json:"move24hBps"`
	ImageURL    *string  `json:"imageUrl"`
	EndsAt      *string  `json:"endsAt"`
}

// The sources of a heatmap besides the venue.
const (
	fromCopy    = "cache"
	fromNowhere = "empty"
)

var modeParams = params("mode")

func readMode(rawQuery string) string { return market.ParseMode(page.Query(rawQuery, modeParams)[0]) }

// featured is GET /api/{venue_a}/featured. A ledger that is away is covered by a
// copy of the last minutes, and then there are no tiles; no cache keeps either.
func (s *server) featured(c echo.Context) error {
	w, r := c.Response(), c.Request()
	mode := readMode(r.URL.RawQuery)
	err := s.tiles.Serve(w, r, mode, s.buildTiles(mode))
	if err == nil || r.Context().Err() != nil {
		return err
	}
	s.markDegraded(c, strings.TrimSuffix(fault.Of(err).Code, "_unavailable"))
	s.log.WarnContext(r.Context(), "no tiles", "code", fault.Of(err).Code, "error", err)
	if last := s.lastTiles.Peek(mode); last != nil {
		last.WriteTo(w, r)
		return nil
	}
	return web.OK(c, heatmapJSON{Source: fromNowhere, UpdatedAt: syntax.Stamp(s.now()), Tiles: []tileJSON{}})
}

// buildTiles makes the page of a mode, and its copy for when the ledger is away.
func (s *server) buildTiles(mode string) page.Build {
	return func(ctx context.Context) ([]byte, error) {
		h, err := s.catalogue.Tiles(ctx, mode)
		if err != nil {
			return nil, err
		}
		out := heatmapJSON{Source: s.venueA, UpdatedAt: syntax.Stamp(h.UpdatedAt), Tiles: make([]tileJSON, 0, len(h.Tiles))}
		for i := range h.Tiles {
			out.Tiles = append(out.Tiles, showTile(&h.Tiles[i], h.UpdatedAt))
		}
		if len(out.Tiles) == 0 {
			out.Source = fromNowhere
			return web.Marshal(out)
		}
		body, err := web.Marshal(out)
		if err != nil {
			return nil, err
		}
		out.Source = fromCopy
		kept, err := web.Marshal(out)
		if err != nil {
			return nil, err
		}
		s.lastTiles.Drop(mode)
		_, err = s.lastTiles.Get(ctx, mode, func(context.Context) ([]byte, error) { return kept, nil })
		return body, err
	}
}

func showTile(t *market.Tile, now time.Time) tileJSON {
	return tileJSON{
		ID: t.ID, Label: t.Label, Tagline: tagline(t.Markets, t.EndsAt, now), Route: "/m/" + string(t.MarketID),
		TotalVol24h: t.Volume24h, TopMarket: t.Title, TopYesPct: percent(t.Yes), MarketID: string(t.MarketID),
		Lane: string(t.Lane), MarketCount: t.Markets, Move24hBps: t.Move, ImageURL: orNull(t.ImageURL),
		EndsAt: syntax.StampOrNull(t.EndsAt),
	}
}

// tagline says in a few words how many markets there are and how long they last.
func tagline(markets int32, ends, now time.Time) string {
	text := "1 market"
	if markets != 1 {
		text = strconv.Itoa(int(markets)) + " markets"
	}
	if ends.IsZero() {
		return text
	}
	left := ends.Sub(now)
	n, unit := int(left/time.Minute), " min"
	switch {
	case left >= 24*time.Hour:
		n, unit = int(left/(24*time.Hour)), " d"
	case left >= time.Hour:
		n, unit = int(left/time.Hour), " h"
	}
	return text + " · resolves in " + strconv.Itoa(max(n, 0)) + unit
}
