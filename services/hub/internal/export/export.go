package export

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// Owner is whose record it is.
type Owner struct {
	PublicID     string
	Handle       string
	DisplayName  string
	OperatorType string
	Tier         string
	AsOf         time.Time
	Tolerances   []Tolerance   // oldest first
	ConfirmAfter time.Duration // from a call to its second quote; 0: second quotes are off
}

// Tolerance is how far below the market's price a call is scored at most, from a time
// on.
type Tolerance struct {
	Since time.Time
	Bps   int32
}

// Call is a call with the facts from which its numbers follow.
type Call struct {
	signal.Signal
	Lane        string
	FilingBasis syntax.Bps // scoring price at the filing
	Quote       *Quote     // that the filing was compared with; nil: unverified, or a native market
	SecondQuote *Quote     // by which the result was scored; nil: none
	InitialYes  *int32     // native markets: the price before any call
	OwnMarket   bool       // the operator created the market
	Version     string     // of the score; empty: none yet
	Vertical    string
	Resolution  *Resolution
	Events      []signal.Event // oldest first
}

// counts reports whether the call is part of points.
func (c *Call) counts() bool { return c.Counted != nil && *c.Counted }

// onVenue reports whether the market is one of a venue, which has a closing line.
func (c *Call) onVenue() bool { return !c.MarketID.IsNative() }

// Scoring tells whether the outcome is claimed and the result still to come: a large
// claim is scored in chunks.
func (c *Call) Scoring() bool {
	return c.Resolution != nil && !c.Resolution.Disputed && c.Status == syntax.Pending
}

// Quote is the price of each side in bps, rounded up, at a time of the venue's clock.
type Quote struct {
	Yes, No int32
	At      time.Time
	Rule    string // where it came from
	SHA256  []byte // of the venue's answer; empty for a stream frame
}

// Resolution is the claim on the market of a call.
type Resolution struct {
	Outcome    string
	Resolver   string
	Source     string
	ProofURL   string
	CloseAt    time.Time
	ClosePrice *int32
	ResolvedAt time.Time
	Rated      bool      // the market was rated when it was resolved
	DecidedAt  time.Time // when the outcome was public, as stated; zero: not stated
	Disputed   bool
}

// End is what the ledger says at the end of a record: it is whole.
type End struct {
	Calls, Events int64
	Checkpoint    string // newest signed head of the ledger's log; empty: none
}

// Reader takes a record in parts; its error ends the reading.
type Reader interface {
	Head(o Owner) error
	Calls(list []Call) error
	End(e End) error
}

// Ledger reads records. It waits for its reader and keeps nothing ahead of it.
type Ledger interface {
	// Record reads to the end. Faults: not_found, signal_service_unavailable,
	// db_unavailable; they may come in the middle.
	Record(ctx context.Context, handle syntax.Handle, to Reader) error
}
