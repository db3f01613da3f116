package board

import (
	"github.com/signalcast/signalcast/pkg/protocol"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
)

// Query selects a leaderboard. All fields are normalized, so that equivalent requests share one cache entry.
type Query struct {
	Operators string // independent, house, automated, human, all
	Window    string // all, 28d
	Lane      protocol.Lane
	Order     string // score, edge
}

// Orders of a leaderboard: ByScore orders by broadcast score, ByEdge by the lower bound of the edge over the market price.
const (
	ByScore = "score"
	ByEdge  = "edge"
)

// Default and maximum number of leaderboard entries in one response.
const (
	Default = 50
	Max     = 100
)

// ParseQuery parses the query parameters of a leaderboard. An invalid value becomes the default. The order "edge" ignores window
// and always uses the window "all".
func ParseQuery(operators, window, lane, order string) Query {
	q := Query{Operators: "independent", Window: "all", Lane: protocol.LaneFilter(lane), Order: ByScore}
	switch operators {
	case "house", "automated", "human", "all":
		q.Operators = operators
	}
	if order == ByEdge {
		q.Order = order
		return q
	}
	if window == "28d" {
		q.Window = window
	}
	return q
}

// Request returns a ledger request for up to limit entries from the top of the leaderboard.
func (q Query) Request(limit int) *boardv1.ListBroadcastRequest {
	return &boardv1.ListBroadcastRequest{
		Operators: q.Operators, Lane: string(q.Lane), Window: q.Window, Limit: int32(limit), Order: q.Order,
	}
}

// Accuracy returns the percentage of won calls among all won and lost calls, rounded half up. It returns 0 if there are none.
func Accuracy(won, lost int64) int64 {
	n := won + lost
	if n == 0 {
		return 0
	}
	return (200*won + n) / (2 * n)
}
