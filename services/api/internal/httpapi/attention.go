package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/attention"
)

var (
	errMissingMarket = apperr.New(apperr.Invalid, "missing_market", "marketId is required").With("field", "marketId")
	errNoMarket      = apperr.New(apperr.NotFound, "not_found", "no such market")
)

// Default and maximum number of markets in a list ordered by attention score.
const (
	topDefault = 20
	topMax     = attention.MostRows
)

// topQuery contains the lane and the limit of a request for markets ordered by attention score. The limit is within its
// bounds.
type topQuery struct {
	lane  protocol.Lane
	limit int
}

var topParams = httpcache.Params("lane", "limit")

func readTop(rawQuery string) topQuery {
	v := httpcache.Query(rawQuery, topParams)
	return topQuery{protocol.LaneFilter(v[0]), protocol.Limit(v[1], topDefault, topMax)}
}

func (q topQuery) key(kind string) string {
	return httpcache.JoinKey(kind, q.lane.String(), strconv.Itoa(q.limit))
}

// top returns the handler of GET /api/v1/signals/external or GET /api/aura/top, which list markets by attention score. kind
// distinguishes the two in cache keys, and show converts the rows to JSON.
func (s *Server) top(kind string, show func(rows []attention.Row, at time.Time) any) echo.HandlerFunc {
	return func(c echo.Context) error {
		q := readTop(c.Request().URL.RawQuery)
		return serve(c, s.attention, q.key(kind), func(ctx context.Context) (any, error) {
			rows, at, err := s.Oracle.Top(ctx, q.lane, q.limit)
			return show(rows, at), err
		})
	}
}

func (s *Server) emptyExternal() any { return s.showExternal(nil, s.Now()) }

func (s *Server) showExternal(rows []attention.Row, at time.Time) any {
	out := openapi.ExternalSignals{
		Signals: make([]openapi.ExternalSignals_Signals, len(rows)), Count: int64(len(rows)), UpdatedAt: protocol.Stamp(at),
	}
	now := s.Now()
	for i := range rows {
		r := &rows[i]
		out.Signals[i] = openapi.ExternalSignals_Signals{
			Rank: int64(r.Rank), MarketID: string(r.ID), Provider: string(r.Provider), Title: r.Title, Lane: string(r.Lane),
			Attention: int64(r.Score), AttentionDelta: int64(r.Delta), Volume24H: r.Volume24h, URL: s.marketURL(r.ID),
			UpdatedAt: out.UpdatedAt,
		}
		if yes := r.Price(now); yes != nil {
			percent := yes.Percent()
			out.Signals[i].YesPct = &percent
		}
	}
	return out
}

func (s *Server) marketURL(id protocol.MarketID) string { return s.HubURL + "/m/" + string(id) }

func (s *Server) emptyTop() any { return showTop(nil, s.Now()) }

func showTop(rows []attention.Row, at time.Time) any {
	out := openapi.AttentionTop{Markets: make([]openapi.TitledAttention, len(rows)), UpdatedAt: protocol.Stamp(at)}
	for i := range rows {
		a := showScore(&rows[i], at)
		out.Markets[i] = openapi.TitledAttention{
			MarketID: a.MarketID, Title: rows[i].Title, Score: a.Score, Rank: a.Rank, Percentile: a.Percentile,
			Components: openapi.TitledAttention_Components(a.Components), UpdatedAt: a.UpdatedAt,
		}
	}
	return out
}

func showScore(r *attention.Row, at time.Time) openapi.Attention {
	p := r.Parts
	return openapi.Attention{
		MarketID: string(r.ID), Score: int64(r.Score), Rank: int64(r.Rank), Percentile: int64(r.Percentile),
		UpdatedAt: protocol.Stamp(at),
		Components: openapi.Attention_Components{
			Volume: hundredths(p.Volume), Move: hundredths(p.Move), Signals: hundredths(p.Signals),
			Viewers: hundredths(p.Viewers), Takes: hundredths(p.Takes),
		},
	}
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

// Query parameters of GET /api/aura/score and GET /api/aura/history.
var (
	scoreParams   = httpcache.Params("marketId")
	historyParams = httpcache.Params("marketId", "window")
)

// scoreKey returns the cache key of a market's attention score. It returns false for an invalid market id, because its
// response is not cached.
func scoreKey(rawQuery string) (string, bool) {
	id, err := protocol.ParseMarketID(httpcache.Query(rawQuery, scoreParams)[0])
	return httpcache.JoinKey("score", string(id)), err == nil
}

// score handles GET /api/aura/score: the attention score of one market. Errors: missing_market, not_found, db_unavailable.
func (s *Server) score(c echo.Context) error {
	raw := httpcache.Query(c.Request().URL.RawQuery, scoreParams)[0]
	if raw == "" {
		return errMissingMarket
	}
	id, err := protocol.ParseMarketID(raw)
	if err != nil {
		return attention.ErrNotFound
	}
	return serve(c, s.attention, httpcache.JoinKey("score", raw), func(ctx context.Context) (any, error) {
		row, at, err := s.Oracle.Score(ctx, id)
		if err != nil {
			return nil, err
		}
		return showScore(&row, at), nil
	})
}

// readHistory returns the market id and the time span of a history request. It does not check the id.
func readHistory(rawQuery string) (string, time.Duration) {
	v := httpcache.Query(rawQuery, historyParams)
	return v[0], attention.ParseSpan(v[1])
}

// historyKey returns the cache key of a market's attention history. It returns false for an invalid market id, because its
// response is not cached.
func historyKey(rawQuery string) (string, bool) {
	raw, span := readHistory(rawQuery)
	id, err := protocol.ParseMarketID(raw)
	return httpcache.JoinKey("history", string(id), span.String()), err == nil
}

// attentionHistory handles GET /api/aura/history: the attention scores of one market over time. The list is empty for an
// unknown market. Error: missing_market.
func (s *Server) attentionHistory(c echo.Context) error {
	raw, span := readHistory(c.Request().URL.RawQuery)
	if raw == "" {
		return errMissingMarket
	}
	key, known := historyKey(c.Request().URL.RawQuery)
	if !known {
		return httpx.JSON(c, http.StatusOK, emptyHistory(c))
	}
	return serve(c, s.attention, key, func(ctx context.Context) (any, error) {
		list, err := s.Oracle.History(ctx, protocol.MarketID(raw), span)
		return showHistory(raw, list), err
	})
}

func showHistory(market string, list []attention.Point) openapi.AttentionHistory {
	out := openapi.AttentionHistory{MarketID: market, Points: make([]openapi.AttentionHistory_Points, len(list))}
	for i, p := range list {
		out.Points[i] = openapi.AttentionHistory_Points{T: p.At.Unix(), Score: int64(p.Score)}
	}
	return out
}

func emptyHistory(c echo.Context) any {
	id, _ := readHistory(c.Request().URL.RawQuery)
	return showHistory(id, nil)
}
