package reads

import (
	"context"
	"math"
	"strconv"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// boardQuery is a normalized query for the leaderboard. limit is the maximum number of rows.
type boardQuery struct {
	board.Query
	limit int
}

var boardParams = httpcache.Params("operators", "window", "lane", "limit", "order")

func readBoard(rawQuery string) boardQuery {
	v := httpcache.Query(rawQuery, boardParams)
	return boardQuery{board.ParseQuery(v[0], v[1], v[2], v[4]), protocol.Limit(v[3], board.Default, board.Max)}
}

// Key implements view.Query.
func (q boardQuery) Key() string {
	return httpcache.JoinKey(q.Operators, q.Window, string(q.Lane), strconv.Itoa(q.limit), q.Order)
}

// Board handles GET /api/operator/leaderboard. It returns the leaderboard of the ledger, with followers and live sessions from
// the hub.
func (s *Server) Board() view.Read[boardQuery] {
	return view.Read[boardQuery]{
		Pages: s.boardPages, Parse: readBoard,
		Build: func(ctx context.Context, q boardQuery) (view.Answer, error) {
			b, err := s.Ledger.Boards.ListBroadcast(ctx, q.Request(q.limit))
			if err != nil {
				return view.Answer{}, err
			}
			ids := view.List(b.GetRows(), func(r *boardv1.Row) operator.ID { return operator.ID(r.GetOperator().GetId()) })
			brief, cancel := context.WithTimeout(ctx, request.FollowTimeout)
			defer cancel()
			followers, failed := s.Follows.Followers(brief, ids)
			live, _ := s.OnAir.OnAir(brief) // without live sessions, the board is still served
			return view.Answer{Value: s.showBoard(q, b, live, followers), Missing: view.WithoutFollows(failed)}, nil
		},
		Empty: func(q boardQuery) any {
			return s.showBoard(q, &boardv1.ListBroadcastResponse{UpdatedAt: ledgerclient.Timestamp(s.Now())}, nil, nil)
		},
	}
}

func (s *Server) showBoard(
	q boardQuery, b *boardv1.ListBroadcastResponse, live map[protocol.Handle]livestream.Show, followers map[operator.ID]int64,
) openapi.BroadcastBoard {
	show := func(r *boardv1.Row) openapi.BroadcastRow {
		o := r.GetOperator()
		session, on := live[protocol.Handle(o.GetHandle())]
		return openapi.BroadcastRow{
			Rank: int64(r.GetRank()), Handle: o.GetHandle(), DisplayName: o.GetDisplayName(), OperatorPublicID: o.GetPublicId(),
			AvatarURL: httpx.OrNull(o.GetAvatarUrl()), Tier: o.GetTier(), OperatorType: o.GetOperatorType(),
			IsAi: o.GetOperatorType() == string(protocol.AIAgent), BroadcastScore: int64(r.GetBroadcastScore()),
			Components: openapi.BroadcastRow_Components{
				Skill: hundredths(r.GetSkill()), Activity: hundredths(r.GetActivity()), Reach: hundredths(r.GetReach()),
			},
			Score: r.GetScore(), Accuracy: int64(r.GetAccuracy()), Total: r.GetTotal(), Won: r.GetWon(), Lost: r.GetLost(),
			Pending: r.GetPending(), Followers: followers[operator.ID(o.GetId())], Live: r.GetLive() || on, Approved: session.Approved,
			Href: s.HubURL + "/u/" + o.GetHandle(), Edge: showEdge(r), ViewerMinutes: r.GetViewerMinutes(),
		}
	}
	return openapi.BroadcastBoard{
		Leaderboard: view.List(b.GetRows(), show), Count: int64(len(b.GetRows())),
		Operators: q.Operators, Window: q.Window, Order: q.Order, UpdatedAt: ledgerclient.Stamp(b.GetUpdatedAt()),
	}
}

// showEdge returns the edge of a leaderboard row; nil for a row without a resolved call.
func showEdge(r *boardv1.Row) *openapi.Edge {
	if r.GetEdgeCalls() == 0 {
		return nil
	}
	return &openapi.Edge{
		Calls: r.GetEdgeCalls(), EdgeBps: int64(r.GetEdgeBps()), LowBps: int64(r.GetEdgeLowBps()),
		HighBps: int64(r.GetEdgeHighBps()),
	}
}

// hundredths rounds to two decimals. It is for the displayed components of the broadcast score. The score itself is computed from
// unrounded components.
func hundredths(n float64) float64 { return math.Round(n*100) / 100 }
