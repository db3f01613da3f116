package reads

import (
	"context"
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Values of the member "source" in the heatmap and in the oracle list. A new heatmap has the name of the primary venue instead.
const (
	sourceOracle = "oracle"
	sourceCache  = "cache"
	sourceEmpty  = "empty"
)

var modeParams = httpcache.Params("mode")

func readMode(rawQuery string) view.TextQuery {
	return view.TextQuery{market.ParseMode(httpcache.Query(rawQuery, modeParams)[0])}
}

// Featured handles GET /api/{venue_a}/featured, the heatmap. While the ledger is unavailable, the response is a recent copy of
// the heatmap, or an empty list if there is none. A heatmap without its pinned markets is marked as degraded.
func (s *Server) Featured() view.Read[view.TextQuery] {
	return view.Read[view.TextQuery]{
		Pages: s.TilePages, Parse: readMode, NoCopies: true,
		Build: func(ctx context.Context, mode view.TextQuery) (view.Answer, error) {
			h, err := view.ListTiles(ctx, s.Ledger.Catalogue, s.Pins, mode[0])
			if err != nil {
				return view.Answer{}, err
			}
			out := openapi.Heatmap{Source: s.VenueA, UpdatedAt: ledgerclient.Stamp(h.GetUpdatedAt()), Tiles: showTiles(h)}
			switch {
			case len(out.Tiles) == 0:
				out.Source = sourceEmpty
			case h.Failed == nil:
				shown := out
				shown.Source = sourceCache
				err = s.storeCopy(mode.Key(), shown)
			}
			if h.Failed != nil {
				s.Log.WarnContext(ctx, "reading heatmap pins failed", "error", h.Failed)
			}
			return view.Answer{Value: out, Missing: httpx.Source(h.Failed)}, err
		},
		Empty: func(view.TextQuery) any {
			return openapi.Heatmap{Source: sourceEmpty, UpdatedAt: protocol.Stamp(s.Now()), Tiles: []openapi.Tile{}}
		},
	}
}

// storeCopy stores tiles as the fallback copy of key. The copy is served while the ledger is unavailable.
func (s *Server) storeCopy(key string, tiles any) error {
	body, err := httpx.Marshal(tiles)
	if err == nil {
		s.TilePages.StoreCopy(key, body)
	}
	return err
}

func showTiles(h view.Tiles) []openapi.Tile {
	return view.List(h.GetTiles(), func(t *cataloguev1.Tile) openapi.Tile {
		tile := showTile(t, h.GetUpdatedAt())
		if tagline := h.Pins[t.GetMarketId()].Tagline; tagline != nil {
			tile.Tagline = *tagline
		}
		return tile
	})
}

// Default and maximum length of the oracle list.
const (
	oracleDefault = 12
	oracleMax     = market.MaxTiles
)

var oracleParams = httpcache.Params("limit")

// oracleQuery is a normalized query for the oracle list. Its value is the maximum number of tiles.
type oracleQuery int

func readOracle(rawQuery string) oracleQuery {
	return oracleQuery(protocol.Limit(httpcache.Query(rawQuery, oracleParams)[0], oracleDefault, oracleMax))
}

// Key implements view.Query. The key must differ from the keys of the heatmap modes, because the oracle list and the heatmap
// share a cache.
func (q oracleQuery) Key() string { return httpcache.JoinKey(sourceOracle, strconv.Itoa(int(q))) }

// OracleFeatured handles GET /api/oracle/featured, the tiles in the order of their attention scores, without pins. Like the
// heatmap, the list has fallback copies.
func (s *Server) OracleFeatured() view.Read[oracleQuery] {
	return view.Read[oracleQuery]{
		Pages: s.TilePages, Parse: readOracle, NoCopies: true,
		Build: func(ctx context.Context, q oracleQuery) (view.Answer, error) {
			h, err := s.Ledger.Catalogue.ListTiles(ctx, &cataloguev1.ListTilesRequest{})
			if err != nil {
				return view.Answer{}, err
			}
			show := func(t *cataloguev1.Tile) openapi.OracleTile { return showOracle(t, h.GetUpdatedAt()) }
			out := openapi.OracleTiles{
				Source: sourceOracle, UpdatedAt: ledgerclient.Stamp(h.GetUpdatedAt()),
				Featured: view.List(h.GetTiles()[:min(int(q), len(h.GetTiles()))], show),
			}
			if len(out.Featured) == 0 {
				out.Source = sourceEmpty
				return view.Answer{Value: out}, nil
			}
			shown := out
			shown.Source = sourceCache
			return view.Answer{Value: out}, s.storeCopy(q.Key(), shown)
		},
		Empty: func(oracleQuery) any {
			return openapi.OracleTiles{
				Source: sourceEmpty, UpdatedAt: protocol.Stamp(s.Now()), Featured: []openapi.OracleTile{},
			}
		},
	}
}

func showOracle(tile *cataloguev1.Tile, now *timestamppb.Timestamp) openapi.OracleTile {
	t := showTile(tile, now)
	return openapi.OracleTile{
		ID: t.ID, Label: t.Label, Tagline: t.Tagline, Route: t.Route, TotalVol24H: t.TotalVol24H, TopMarket: t.TopMarket,
		TopYesPct: t.TopYesPct, MarketID: t.MarketID, Lane: t.Lane, MarketCount: t.MarketCount, Move24HBps: t.Move24HBps,
		ImageURL: t.ImageURL, EndsAt: t.EndsAt, Attention: int64(tile.GetAttention()),
	}
}

func showTile(t *cataloguev1.Tile, now *timestamppb.Timestamp) openapi.Tile {
	end := ledgerclient.Time(t.GetEndsAt())
	return openapi.Tile{
		ID: t.GetId(), Label: t.GetLabel(), Tagline: tagline(t.GetMarketCount(), end, ledgerclient.Time(now)),
		Route: "/m/" + t.GetMarketId(), TotalVol24H: cents(t.GetVolume24H()), TopMarket: t.GetTitle(),
		TopYesPct: view.Percent(t.YesBps),
		MarketID:  t.GetMarketId(), Lane: t.GetLane(), MarketCount: int64(t.GetMarketCount()),
		Move24HBps: openapi.Int(t.Move24HBps),
		ImageURL:   httpx.OrNull(t.GetImageUrl()), EndsAt: protocol.StampOrNull(end),
	}
}

// cents rounds an amount in dollars to cents, because sums of floating-point numbers are inexact.
func cents(usd float64) float64 { return math.Round(100*usd) / 100 }

// tagline returns the number of markets of a tile and the time that is left, as text. The parameter named ends is the end of the
// markets. If it is zero, the text has no time.
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
