package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

// boardQuery is the parsed query of a leaderboard request. Invalid values are replaced by defaults.
type boardQuery struct {
	group board.Group
	lane  string
	limit int
	order string // empty: order by score
}

var boardParams = httpcache.Params("operators", "lane", "limit", "order")

func readBoard(rawQuery string) boardQuery {
	v := httpcache.Query(rawQuery, boardParams)
	q := boardQuery{group: board.ParseGroup(v[0], board.Human), lane: protocol.LaneFilter(v[1]).String(), limit: protocol.Limit(v[2], 50, 200)}
	if v[3] == board.ByEdge {
		q.order = v[3]
	}
	return q
}

func (q boardQuery) key() string {
	return httpcache.JoinKey(string(q.group), q.lane, strconv.Itoa(q.limit), q.order)
}

// board handles GET /api/v1/signals/leaderboard: the operators ordered by score or by edge.
func (s *Server) board(c echo.Context) error {
	q := readBoard(c.Request().URL.RawQuery)
	return serve(c, s.ranks, q.key(), func(ctx context.Context) (any, error) {
		rows, err := s.Boards.Board(ctx, cmp.Or(q.order, board.ByScore), q.group, q.lane, q.limit)
		return s.showBoard(rows), err
	})
}

func (s *Server) emptyBoard() any { return s.showBoard(nil) }

func (s *Server) showBoard(rows []board.Row) openapi.ScoreBoard {
	out := openapi.ScoreBoard{Leaderboard: make([]openapi.ScoreRow, 0, len(rows)), UpdatedAt: protocol.Stamp(s.Now())}
	for _, r := range rows {
		o := r.Operator
		out.Leaderboard = append(out.Leaderboard, openapi.ScoreRow{
			Rank: int64(r.Rank), PrivyID: o.ProviderID, Callsign: httpx.OrNull(o.Handle), DisplayName: httpx.OrNull(o.DisplayName),
			Score: r.Score, Total: r.Total, Won: r.Won, Lost: r.Lost, Pending: r.Pending, Accuracy: int64(r.Accuracy),
			Tier: string(o.Tier), IsAi: o.Type == protocol.AIAgent, Edge: showEdge(r.Edge),
		})
	}
	return out
}

func showEdge(e board.Edge) *openapi.Edge {
	if e.Calls == 0 {
		return nil
	}
	return &openapi.Edge{Calls: e.Calls, EdgeBps: int64(e.EdgeBps), LowBps: int64(e.LowBps), HighBps: int64(e.HighBps)}
}

func showPulse(t *board.Totals) openapi.PulseTotals {
	return openapi.PulseTotals{
		Signals: t.Signals, IndependentSignals: t.Independent, HouseSignals: t.House, AutomatedSignals: t.Automated,
		Last7: t.Last7, Prev7: t.Prev7, IndependentOperators: t.IndependentOperators, IndependentActive28: t.IndependentActive28,
		HouseOperators: t.HouseOperators, Registered: t.Registered, Markets: t.Markets,
		Resolved: t.Resolved(), Won: t.Won, Lost: t.Lost, Open: t.Open, ClvCount: t.CLVCount, BeatLine: t.BeatLine,
	}
}

// PulseData returns the totals t as JSON, in the form of the events on the channel "pulse".
func PulseData(t *board.Totals) []byte { return encode(showPulse(t)) }

// SamePulse reports whether data, which PulseData returned earlier, contains the same totals as t.
func SamePulse(data []byte, t *board.Totals) bool {
	var was openapi.PulseTotals
	return json.Unmarshal(data, &was) == nil && was == showPulse(t)
}
