package edge

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
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
		b, err := s.Ledger.Boards.ListBroadcast(ctx, q.Request(q.limit))
		if err != nil {
			return nil, err
		}
		return s.boardPage(ctx, q, b)
	}
}

// followTime bounds the read of followers: a board that has to do without them is
// shown, and not kept.
const followTime = 300 * time.Millisecond

// boardPage adds to the ledger's board the facts of this service: followers and live sessions.
func (s *server) boardPage(ctx context.Context, q boardQuery, b *boardv1.ListBroadcastResponse) ([]byte, error) {
	ids := make([]operator.ID, 0, len(b.GetRows()))
	for _, r := range b.GetRows() {
		ids = append(ids, operator.ID(r.GetOperator().GetId()))
	}
	brief, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	followers, failed := s.Accounts.Follows.Followers(brief, ids)
	live, _ := s.OnAir.OnAir(brief) // the board is served without them
	body, err := web.Marshal(s.showBoard(q, b, live, followers))
	if err != nil || failed == nil {
		return body, err
	}
	return nil, &passing{page: page.Make(body), source: "follows"}
}

func (s *server) emptyBoard(c echo.Context) any {
	none := &boardv1.ListBroadcastResponse{UpdatedAt: ledgerclient.Timestamp(s.Now())}
	return s.showBoard(readBoard(c.Request().URL.RawQuery), none, nil, nil)
}

func (s *server) showBoard(
	q boardQuery, b *boardv1.ListBroadcastResponse, live map[syntax.Handle]onair.Show, followers map[operator.ID]int64,
) openapi.BroadcastBoard {
	out := openapi.BroadcastBoard{
		Leaderboard: make([]openapi.BroadcastRow, 0, len(b.GetRows())), Count: int64(len(b.GetRows())),
		Operators: q.Operators, Window: q.Window, Order: q.Order, UpdatedAt: ledgerclient.Stamp(b.GetUpdatedAt()),
	}
	for _, r := range b.GetRows() {
		o := r.GetOperator()
		_, on := live[syntax.Handle(o.GetHandle())]
		out.Leaderboard = append(out.Leaderboard, openapi.BroadcastRow{
			Rank: int64(r.GetRank()), Handle: o.GetHandle(), DisplayName: o.GetDisplayName(), OperatorPublicID: o.GetPublicId(),
			AvatarURL: orNull(o.GetAvatarUrl()), Tier: o.GetTier(), OperatorType: o.GetOperatorType(),
			IsAi: o.GetOperatorType() == string(syntax.AIAgent), BroadcastScore: int64(r.GetBroadcastScore()),
			Components: openapi.BroadcastRow_Components{
				Skill: hundredths(r.GetSkill()), Activity: hundredths(r.GetActivity()), Reach: hundredths(r.GetReach()),
			},
			Score: r.GetScore(), Accuracy: int64(r.GetAccuracy()), Total: r.GetTotal(), Won: r.GetWon(), Lost: r.GetLost(),
			Pending: r.GetPending(), Followers: followers[operator.ID(o.GetId())], Live: r.GetLive() || on,
			Href: s.HubURL + "/u/" + o.GetHandle(), Edge: showEdge(r),
		})
	}
	return out
}

// showEdge returns nil for a row without a decided call.
func showEdge(r *boardv1.Row) *openapi.Edge {
	if r.GetEdgeCalls() == 0 {
		return nil
	}
	return &openapi.Edge{
		Calls: r.GetEdgeCalls(), EdgeBps: int64(r.GetEdgeBps()), LowBps: int64(r.GetEdgeLowBps()), HighBps: int64(r.GetEdgeHighBps()),
	}
}

// hundredths rounds to two decimals; the score is made of the unrounded parts.
func hundredths(n float64) float64 { return math.Round(n*100) / 100 }
