package edge

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

type oracleJSON struct {
	Featured  []oracleTileJSON `json:"featured"`
	Source    string           `json:"source"`
	UpdatedAt string           `json:"updatedAt"`
}

type oracleTileJSON struct {
	openapi.Tile
	Attention int32 `json:"attention"`
}

// The sources of tiles besides the venue.
const (
	fromOracle  = "oracle"
	fromCopy    = "cache"
	fromNowhere = "empty"
)

var modeParams = params("mode")

func readMode(rawQuery string) string { return market.ParseMode(page.Query(rawQuery, modeParams)[0]) }

// featured is GET /api/{venue_a}/featured. A ledger that is away is covered by a
// copy of the last minutes, and then there are no tiles; no cache keeps either.
func (s *server) featured(c echo.Context) error {
	mode := readMode(c.Request().URL.RawQuery)
	return s.covered(c, s.tiles, mode, s.buildTiles(mode), func() any {
		return openapi.Heatmap{Source: fromNowhere, UpdatedAt: syntax.Stamp(s.Now()), Tiles: []openapi.Tile{}}
	})
}

// buildTiles makes the page of a mode, and its copy for when the ledger is away.
// Without its pins a heatmap passes and is no page to keep.
func (s *server) buildTiles(mode string) page.Build {
	return func(ctx context.Context) ([]byte, error) {
		pins, pinsErr := s.pinned(ctx, mode)
		h, err := s.Ledger.Catalogue.ListTiles(ctx, &cataloguev1.ListTilesRequest{Mode: mode, Pinned: pins.ids})
		if err != nil {
			return nil, err
		}
		out := openapi.Heatmap{
			Source: s.VenueA, UpdatedAt: ledgerclient.Stamp(h.GetUpdatedAt()), Tiles: make([]openapi.Tile, 0, len(h.GetTiles())),
		}
		for _, t := range h.GetTiles() {
			out.Tiles = append(out.Tiles, pins.over(showTile(t, h.GetUpdatedAt())))
		}
		if len(out.Tiles) == 0 {
			out.Source = fromNowhere
		}
		body, err := web.Marshal(out)
		if err != nil {
			return nil, err
		}
		if pinsErr != nil {
			s.Log.WarnContext(ctx, "a heatmap without its pins", "error", pinsErr)
			return nil, &passing{page: page.Make(body), source: web.Source(pinsErr)}
		}
		if len(out.Tiles) == 0 {
			return body, nil
		}
		out.Source = fromCopy
		kept, err := web.Marshal(out)
		if err != nil {
			return nil, err
		}
		return body, s.tiles.keep(ctx, mode, kept)
	}
}

// Sizes of the oracle's list.
const (
	oracleDefault = 12
	oracleMax     = market.MaxTiles
)

var oracleParams = params("limit")

func readOracle(rawQuery string) int {
	return syntax.Limit(page.Query(rawQuery, oracleParams)[0], oracleDefault, oracleMax)
}

// oracleKey is no mode of the heatmap.
func oracleKey(limit int) string { return joinKey(fromOracle, keyOf(limit)) }

// oracleFeatured is GET /api/oracle/featured: the tiles by attention alone, covered
// for as the heatmap is.
func (s *server) oracleFeatured(c echo.Context) error {
	limit := readOracle(c.Request().URL.RawQuery)
	key := oracleKey(limit)
	build := func(ctx context.Context) ([]byte, error) {
		h, err := s.Ledger.Catalogue.ListTiles(ctx, &cataloguev1.ListTilesRequest{})
		if err != nil {
			return nil, err
		}
		out := oracleJSON{
			Source: fromOracle, UpdatedAt: ledgerclient.Stamp(h.GetUpdatedAt()), Featured: make([]oracleTileJSON, 0, limit),
		}
		for _, t := range h.GetTiles()[:min(limit, len(h.GetTiles()))] {
			out.Featured = append(out.Featured, oracleTileJSON{showTile(t, h.GetUpdatedAt()), t.GetAttention()})
		}
		if len(out.Featured) == 0 {
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
		return body, s.tiles.keep(ctx, key, kept)
	}
	return s.covered(c, s.tiles, key, build, func() any {
		return oracleJSON{Source: fromNowhere, UpdatedAt: syntax.Stamp(s.Now()), Featured: []oracleTileJSON{}}
	})
}

func showTile(t *cataloguev1.Tile, now *timestamppb.Timestamp) openapi.Tile {
	end := ledgerclient.Time(t.GetEndsAt())
	return openapi.Tile{
		ID: t.GetId(), Label: t.GetLabel(), Tagline: tagline(t.GetMarketCount(), end, ledgerclient.Time(now)), Route: "/m/" + t.GetMarketId(), TotalVol24H: cents(t.GetVolume24H()), TopMarket: t.GetTitle(), TopYesPct: percent(t.YesBps),
		MarketID: t.GetMarketId(), Lane: t.GetLane(), MarketCount: int64(t.GetMarketCount()), Move24HBps: openapi.Int(t.Move24HBps),
		ImageURL: orNull(t.GetImageUrl()), EndsAt: syntax.StampOrNull(end),
	}
}

// cents takes the noise out of a sum of dollars.
func cents(usd float64) float64 { return math.Round(100*usd) / 100 }

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
