package board

import (
	"github.com/signalcast/signalcast/pkg/protocol"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
)

// Query selects a board; every field is normal, so that two spellings of one
// question are one page.
type Query struct {
	Operators string // independent, house, automated, human, all
	Window    string // all, 28d
	Lane      protocol.Lane
	Order     string // score, edge
}

// The orders of a board: by broadcast score, or by the lower end of the edge.
const (
	ByScore = "score"
	ByEdge  = "edge"
)

// Limits of a board.
const (
	Default = 50
	Max     = 100
)

// ParseQuery reads the query parameters of a board; it never fails.
// The edge is measured over all of life.
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

// Request returns the request for the first rows of the board, limit at most.
func (q Query) Request(limit int) *boardv1.ListBroadcastRequest {
	return &boardv1.ListBroadcastRequest{
		Operators: q.Operators, Lane: string(q.Lane), Window: q.Window, Limit: int32(limit), Order: q.Order,
	}
}

// Accuracy returns the share of won calls among the won and lost ones, in percent rounded half
// up; 0 without one.
func Accuracy(won, lost int64) int64 {
	n := won + lost
	if n == 0 {
		return 0
	}
	return (200*won + n) / (2 * n)
}
