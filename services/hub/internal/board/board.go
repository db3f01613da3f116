package board

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Row is one ranked operator.
type Row struct {
	Rank                   int32
	Operator               operator.Operator
	Score                  int64
	Total, Won, Lost       int64
	Pending                int64
	Accuracy               int32
	BroadcastScore         int32
	Skill, Activity, Reach float64
	Live                   bool
	Approved               bool  // live, and approved by an administrator
	Edge                   *Edge // nil without a decided call
}

// Edge is how much better than the prices an operator has called, and between what the
// true number lies, as it was measured last (docs/method.md).
type Edge struct {
	Calls          int64
	Bps, Low, High int32
}

// Board is a ranked page.
type Board struct {
	Rows      []Row
	UpdatedAt time.Time
}

// Query selects a board; every field is normal, so that two spellings of one
// question are one page.
type Query struct {
	Operators string // independent, house, automated, human, all
	Window    string // all, 28d
	Lane      syntax.Lane
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
	q := Query{Operators: "independent", Window: "all", Lane: syntax.LaneFilter(lane), Order: ByScore}
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

// Record is what one operator has called.
type Record struct{ Total, Won, Lost, Score int64 }

// Accuracy is the share of calls that were right among those that came out one way
// or the other, in percent rounded half up; 0 without one.
func (r Record) Accuracy() int64 {
	n := r.Won + r.Lost
	if n == 0 {
		return 0
	}
	return (200*r.Won + n) / (2 * n)
}

// Ledger ranks operators.
type Ledger interface {
	Broadcast(ctx context.Context, q Query, limit int) (Board, error)
	// Record counts one operator's calls; zeros for one without a call.
	Record(ctx context.Context, of operator.ID) (Record, error)
}
