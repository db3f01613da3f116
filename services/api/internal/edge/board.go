package edge

import (
	"context"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/api/internal/board"
)

type boardJSON struct {
	Leaderboard []boardRowJSON `json:"leaderboard"`
	UpdatedAt   string         `json:"updatedAt"`
}

// boardRowJSON shows the provider's raw subject in privyId: the protocol says so
// for this route.
type boardRowJSON struct {
	Rank        int       `json:"rank"`
	PrivyID     string    `json:"privyId"`
	Callsign    *string   `json:"callsign"`
	DisplayName *string   `json:"displayName"`
	Score       int64     `json:"score"`
	Total       int64     `json:"total"`
	Won         int64     `json:"won"`
	Lost        int64     `json:"lost"`
	Pending     int64     `json:"pending"`
	Accuracy    int       `json:"accuracy"`
	Tier        string    `json:"tier"`
	IsAI        bool      `json:"isAi"`
	Edge        *edgeJSON `json:"edge"`
}

// edgeJSON is how much better than the prices somebody has called, as it was measured
// last; null without a decided call.
type edgeJSON struct {
	Calls   int64 `json:"calls"`
	EdgeBps int   `json:"edgeBps"`
	LowBps  int   `json:"lowBps"`
	HighBps int   `json:"highBps"`
}

// boardQuery is the normal form of a board request.
type boardQuery struct {
	group board.Group
	lane  string
	limit int
	order string // empty: by score
}

var boardParams = params("operators", "lane", "limit", "order")

func readBoard(rawQuery string) boardQuery {
	v := page.Query(rawQuery, boardParams)
	q := boardQuery{group: board.ParseGroup(v[0], board.Human), lane: syntax.LaneFilter(v[1]).String(), limit: syntax.Limit(v[2], 50, 200)}
	if v[3] == board.ByEdge {
		q.order = v[3]
	}
	return q
}

func (q boardQuery) key() string {
	return joinKey(string(q.group), q.lane, strconv.Itoa(q.limit), q.order)
}

// board is GET /api/v1/signals/leaderboard.
func (s *server) board(c echo.Context) error {
	q := readBoard(c.Request().URL.RawQuery)
	return s.ranks.Serve(c.Response(), c.Request(), q.key(), func(ctx context.Context) ([]byte, error) {
		list := s.Boards.Scores
		if q.order == board.ByEdge {
			list = s.Boards.EdgeBoard
		}
		rows, err := list(ctx, q.group, q.lane, q.limit)
		if err != nil {
			return nil, err
		}
		return web.Marshal(s.showBoard(rows))
	})
}

func (s *server) emptyBoard() any { return s.showBoard(nil) }

func (s *server) showBoard(rows []board.Row) boardJSON {
	out := boardJSON{Leaderboard: make([]boardRowJSON, 0, len(rows)), UpdatedAt: syntax.Stamp(s.Now())}
	for _, r := range rows {
		o := r.Operator
		out.Leaderboard = append(out.Leaderboard, boardRowJSON{
			Rank: r.Rank, PrivyID: o.ProviderID, Callsign: orNull(o.Handle), DisplayName: orNull(o.DisplayName),
			Score: r.Score, Total: r.Total, Won: r.Won, Lost: r.Lost, Pending: r.Pending, Accuracy: r.Accuracy,
			Tier: string(o.Tier), IsAI: o.Type == syntax.AIAgent, Edge: showEdge(r.Edge),
		})
	}
	return out
}

func showEdge(e board.Edge) *edgeJSON {
	if e.Calls == 0 {
		return nil
	}
	return &edgeJSON{Calls: e.Calls, EdgeBps: e.EdgeBps, LowBps: e.LowBps, HighBps: e.HighBps}
}
