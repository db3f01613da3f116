package edge

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/oracle"
)

var (
	errMissingMarket = fault.New(fault.Invalid, "missing_market", "marketId is required").With("field", "marketId")
	errNoMarket      = fault.New(fault.NotFound, "not_found", "no such market")
)

// Page sizes of the lists by attention.
const (
	topDefault = 20
	topMax     = oracle.MostRows
)

// topQuery is the normal form of a list by attention.
type topQuery struct {
	lane  syntax.Lane
	limit int
}

var topParams = page.Params("lane", "limit")

func readTop(rawQuery string) topQuery {
	v := page.Query(rawQuery, topParams)
	return topQuery{syntax.LaneFilter(v[0]), syntax.Limit(v[1], topDefault, topMax)}
}

func (q topQuery) key(kind string) string {
	return page.JoinKey(kind, q.lane.String(), strconv.Itoa(q.limit))
}

// top returns the handler of a list by attention: GET /api/v1/signals/external or GET /api/aura/top.
func (s *Server) top(kind string, show func(rows []oracle.Row, at time.Time) any) echo.HandlerFunc {
	return func(c echo.Context) error {
		q := readTop(c.Request().URL.RawQuery)
		return serve(c, s.attention, q.key(kind), func(ctx context.Context) (any, error) {
			rows, at, err := s.Oracle.Top(ctx, q.lane, q.limit)
			return show(rows, at), err
		})
	}
}

func (s *Server) emptyExternal() any { return s.showExternal(nil, s.Now()) }

func (s *Server) showExternal(rows []oracle.Row, at time.Time) any {
	out := openapi.ExternalSignals{
		Signals: make([]openapi.ExternalSignals_Signals, len(rows)), Count: int64(len(rows)), UpdatedAt: syntax.Stamp(at),
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

func (s *Server) marketURL(id syntax.MarketID) string { return s.HubURL + "/m/" + string(id) }

func (s *Server) emptyTop() any { return showTop(nil, s.Now()) }

func showTop(rows []oracle.Row, at time.Time) any {
	out := openapi.AttentionTop{Markets: make([]openapi.TitledAttention, len(rows)), UpdatedAt: syntax.Stamp(at)}
	for i := range rows {
		a := showScore(&rows[i], at)
		out.Markets[i] = openapi.TitledAttention{
			MarketID: a.MarketID, Title: rows[i].Title, Score: a.Score, Rank: a.Rank, Percentile: a.Percentile,
			Components: openapi.TitledAttention_Components(a.Components), UpdatedAt: a.UpdatedAt,
		}
	}
	return out
}

func showScore(r *oracle.Row, at time.Time) openapi.Attention {
	p := r.Parts
	return openapi.Attention{
		MarketID: string(r.ID), Score: int64(r.Score), Rank: int64(r.Rank), Percentile: int64(r.Percentile),
		UpdatedAt: syntax.Stamp(at),
		Components: openapi.Attention_Components{
			Volume: hundredths(p.Volume), Move: hundredths(p.Move), Signals: hundredths(p.Signals),
			Viewers: hundredths(p.Viewers), Takes: hundredths(p.Takes),
		},
	}
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

// scoreParams and historyParams are the parameters of the reads of one market.
var (
	scoreParams   = page.Params("marketId")
	historyParams = page.Params("marketId", "window")
)

// scoreKey names the page of a market's score; false where there can be none.
func scoreKey(rawQuery string) (string, bool) {
	id, err := syntax.ParseMarketID(page.Query(rawQuery, scoreParams)[0])
	return page.JoinKey("score", string(id)), err == nil
}

// score is GET /api/aura/score. Faults: missing_market, not_found, db_unavailable.
func (s *Server) score(c echo.Context) error {
	raw := page.Query(c.Request().URL.RawQuery, scoreParams)[0]
	if raw == "" {
		return errMissingMarket
	}
	id, err := syntax.ParseMarketID(raw)
	if err != nil {
		return errNoMarket
	}
	return serve(c, s.attention, page.JoinKey("score", raw), func(ctx context.Context) (any, error) {
		row, at, err := s.Oracle.Score(ctx, id)
		if err != nil {
			return nil, err
		}
		return showScore(&row, at), nil
	})
}

// readHistory gives the market and the span of a history.
func readHistory(rawQuery string) (string, time.Duration) {
	v := page.Query(rawQuery, historyParams)
	return v[0], oracle.ParseSpan(v[1])
}

// historyKey names the page of a history; false where there can be none.
func historyKey(rawQuery string) (string, bool) {
	raw, span := readHistory(rawQuery)
	id, err := syntax.ParseMarketID(raw)
	return page.JoinKey("history", string(id), span.String()), err == nil
}

// attentionHistory is GET /api/aura/history. An unknown market has no points. Fault: missing_market.
func (s *Server) attentionHistory(c echo.Context) error {
	raw, span := readHistory(c.Request().URL.RawQuery)
	if raw == "" {
		return errMissingMarket
	}
	key, known := historyKey(c.Request().URL.RawQuery)
	if !known {
		return web.JSON(c, http.StatusOK, emptyHistory(c))
	}
	return serve(c, s.attention, key, func(ctx context.Context) (any, error) {
		list, err := s.Oracle.History(ctx, syntax.MarketID(raw), span)
		return showHistory(raw, list), err
	})
}

func showHistory(market string, list []oracle.Point) openapi.AttentionHistory {
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
