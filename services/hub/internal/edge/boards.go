package edge

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// boardQuery is the normal form of a board request.
type boardQuery struct {
	board.Query
	limit int
}

var boardParams = params("operators", "window", "lane", "limit", "order")

func readBoard(rawQuery string) boardQuery {
	v := page.Query(rawQuery, boardParams)
	return boardQuery{board.ParseQuery(v[0], v[1], v[2], v[4]), syntax.Limit(v[3], board.Default, board.Max)}
}

func (q boardQuery) key() string {
	return joinKey(q.Operators, q.Window, string(q.Lane), keyOf(q.limit), q.Order)
}

// board is GET /api/operator/leaderboard.
func (s *server) board(c echo.Context) error {
	q := readBoard(c.Request().URL.RawQuery)
	err := s.boardPages.Serve(c.Response(), c.Request(), q.key(), s.buildBoard(q))
	var part *passing
	if !errors.As(err, &part) {
		return err
	}
	s.markDegraded(c, part.source)
	part.page.WriteTo(c.Response(), c.Request())
	return nil
}

func (s *server) buildBoard(q boardQuery) page.Build {
	return func(ctx context.Context) ([]byte, error) {
		b, err := s.Boards.Broadcast(ctx, q.Query, q.limit)
		if err != nil {
			return nil, err
		}
		return s.boardPage(ctx, q, b)
	}
}

// followTime bounds the read of followers: a board that has to do without them is
// shown, and not kept.
const followTime = 300 * time.Millisecond

// boardPage adds to the ledger's board what this host knows: who is followed.
func (s *server) boardPage(ctx context.Context, q boardQuery, b board.Board) ([]byte, error) {
	ids := make([]operator.ID, 0, len(b.Rows))
	for i := range b.Rows {
		ids = append(ids, b.Rows[i].Operator.ID)
	}
	brief, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	followers, away := s.Accounts.Follows.Followers(brief, ids)
	live, _ := s.OnAir.OnAir(brief) // the board is served without them
	for i := range b.Rows {
		show, on := live[b.Rows[i].Operator.Handle]
		b.Rows[i].Live, b.Rows[i].Approved = b.Rows[i].Live || on, show.Approved
	}
	body, err := web.Marshal(s.showBoard(q, b, followers))
	if err != nil || away == nil {
		return body, err
	}
	return nil, &passing{page: page.Make(body), source: "follows"}
}

func (s *server) emptyBoard(c echo.Context) any {
	return s.showBoard(readBoard(c.Request().URL.RawQuery), board.Board{UpdatedAt: s.Now()}, nil)
}

func (s *server) showBoard(q boardQuery, b board.Board, followers map[operator.ID]int64) openapi.BroadcastBoard {
	out := openapi.BroadcastBoard{
		Leaderboard: make([]openapi.BroadcastRow, 0, len(b.Rows)), Count: int64(len(b.Rows)),
		Operators: q.Operators, Window: q.Window, Order: q.Order, UpdatedAt: syntax.Stamp(b.UpdatedAt),
	}
	for _, r := range b.Rows {
		o := r.Operator
		out.Leaderboard = append(out.Leaderboard, openapi.BroadcastRow{
			Rank: int64(r.Rank), Handle: string(o.Handle), DisplayName: o.DisplayName, OperatorPublicID: string(o.PublicID),
			AvatarURL: orNull(o.AvatarURL), Tier: string(o.Tier), OperatorType: string(o.Type), IsAi: o.IsAI(),
			BroadcastScore: int64(r.BroadcastScore),
			Components:     openapi.BroadcastRow_Components{Skill: hundredths(r.Skill), Activity: hundredths(r.Activity), Reach: hundredths(r.Reach)},
			Score:          r.Score, Accuracy: int64(r.Accuracy), Total: r.Total, Won: r.Won, Lost: r.Lost, Pending: r.Pending,
			Followers: followers[o.ID], Live: r.Live, Href: s.HubURL + "/u/" + string(o.Handle), Edge: showEdge(r.Edge),
		})
	}
	return out
}

func showEdge(e *board.Edge) *openapi.Edge {
	if e == nil {
		return nil
	}
	return &openapi.Edge{Calls: e.Calls, EdgeBps: int64(e.Bps), LowBps: int64(e.Low), HighBps: int64(e.High)}
}

// hundredths rounds to two decimals; the score is made of the unrounded parts.
func hundredths(n float64) float64 { return math.Round(n*100) / 100 }
