package record

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/skill"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Stats counts what an operator has called (contract 4.2.4).
type Stats struct {
	Total, Won, Lost, Void int64
	Score, Streak          int64
	Accuracy               int32
	AvgClv                 *int32 // bps; nil without a closing line
}

// Resolved is how many calls were won or lost.
func (s *Stats) Resolved() int64 { return s.Won + s.Lost }

// Pending is how many calls have no result yet.
func (s *Stats) Pending() int64 { return s.Total - s.Won - s.Lost - s.Void }

// Title is what somebody with so many decided calls is called.
func Title(resolved int64) string {
	switch {
	case resolved < 5:
		return "RECRUIT"
	case resolved < 15:
		return "OPERATOR"
	case resolved < 50:
		return "FIELD OPERATOR"
	case resolved < 200:
		return "SENIOR OPERATOR"
	}
	return "STATION CHIEF"
}

// Best is the won call at the lowest price, as it was scored.
type Best struct {
	SignalID    string
	MarketID    syntax.MarketID
	MarketTitle string
	Odds        int32 // bps
}

// Moment is a call that was won at long odds.
type Moment struct {
	ID, Tier    string
	SignalID    string
	MarketID    syntax.MarketID
	MarketTitle string
	Direction   syntax.Side
	Odds, Score int32
	MintedAt    time.Time
}

// Record is one operator's.
type Record struct {
	Operator       operator.Operator
	Stats          Stats
	Rank           *int64 // nil without a decided call, and of machines
	Field          int64  // how many are ranked
	BroadcastScore int32
	Best           *Best
	Recent         []signal.Signal // newest first
	Moments        []Moment        // newest first
}

// Ranked is one place of the ranked field.
type Ranked struct {
	Rank     int64
	Operator operator.Operator
	Stats    Stats
}

// Skill is how much of a record is skill. Report is nil without a decided call; Lanes
// are there when no lane was asked for.
type Skill struct {
	Operator  operator.Operator
	Report    *skill.Report
	Lanes     []LaneReport
	Version   string // of the method
	UpdatedAt time.Time
}

// LaneReport is what the calls of one lane say.
type LaneReport struct {
	Lane   string
	Report skill.Report
}

// Week counts the calls of an ISO week by tier.
type Week struct {
	Start                                            string // YYYY-MM-DD, a Monday
	Independent, House, Automated, ActiveIndependent int64
}

// Pulse is how the network stands (contract 4.2.5).
type Pulse struct {
	Weeks                                              []Week // 16, oldest first, the last is running
	Signals, Independent, House, Automated             int64
	Last7, Prev7                                       int64
	IndependentOperators, IndependentActive28          int64
	HouseOperators, Registered, Markets                int64
	Won, Lost, Open, ClvCount, BeatLine, Resolutions28 int64
	LastIndependentWeek                                string // empty: never
	GeneratedAt                                        time.Time
}

// Calls is a page of somebody's calls.
type Calls struct {
	List []signal.Signal // newest first
	Next string          // cursor; empty at the end
}

// Step is where a score stood when so many calls more were decided.
type Step struct {
	At           time.Time
	Score, Calls int64
}

// Course is how a score went. Before is what it was ahead of the first step, and 0
// where the course is Whole; of a very long record the newest calls alone are in it.
type Course struct {
	Steps  []Step // oldest first
	Before int64
	Whole  bool
}

// ErrPulse is the answer when the network cannot be counted.
var ErrPulse = fault.New(fault.Unavailable, "pulse_unavailable", "the network cannot be counted now")

// Query names a record, by handle, or by id when the handle is empty, and how much of
// its lists is shown.
type Query struct {
	Handle          syntax.Handle
	ID              operator.ID
	Recent, Moments int
}

// Ledger keeps records. Faults: not_found, those of a ledger that is away.
type Ledger interface {
	Operator(ctx context.Context, q Query) (Record, error)
	// Ranked lists people with a decided call, best first, at most 100.
	Ranked(ctx context.Context, limit int) ([]Ranked, error)
	// Calls is a page of the calls of an operator, newest first; a cursor that is none
	// begins at the newest.
	Calls(ctx context.Context, handle syntax.Handle, limit int, cursor string) (Calls, error)
	// Course is how the score of an operator went.
	Course(ctx context.Context, handle syntax.Handle) (Course, error)
	// Skill measures all calls or those of a lane; window is all or 28d.
	Skill(ctx context.Context, handle syntax.Handle, lane syntax.Lane, window string) (Skill, error)
	Pulse(ctx context.Context) (Pulse, error)
}
