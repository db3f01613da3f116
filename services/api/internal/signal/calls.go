package signal

import (
	"context"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// CallQuery picks calls, newest first. What is empty does not filter.
type CallQuery struct {
	Handle   string
	MarketID string
	Lane     string // of the market, today
	Status   syntax.SignalStatus
	Limit    int
	After    syntax.Cursor
	Own      bool // of Handle, for its own operator: with unconfirmed calls
}

// CallPage is a page of calls. A filter that fits few of them gives a page with fewer
// than were asked for, and with a Next that goes on: one read looks at MaxLook calls.
type CallPage struct {
	Signals []Record
	Next    string // cursor, empty at the end
}

// MaxLook is how many calls one page is picked from.
const MaxLook = 2000

// LaneStats is what one operator has called in one lane and what was decided.
type LaneStats struct {
	Lane                          syntax.Lane
	Total, Won, Lost, Void, Score int64
	Streak                        int64
	AvgCLV                        *int // bps; nil without a closing line
}

// Calls lists what was called. Fault: db_unavailable.
type Calls interface {
	ListCalls(ctx context.Context, q CallQuery) (CallPage, error)
	// ListLaneStats counts an operator's calls by lane, in the order of the names: the
	// lane of the claim, and of the market today where there is none.
	ListLaneStats(ctx context.Context, userID string) ([]LaneStats, error)
}
