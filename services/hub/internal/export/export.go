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
	Tolerances   []Tolerance // oldest first
}

// Tolerance is how far below the market's price a call is scored at most, from a time
// on.
type Tolerance struct {
	Since time.Time
	Bps   int32
}

// Call is a call with everything that is known of it.
type Call struct {
	signal.Signal
	Lane       string
	Basis      syntax.Bps // the price that is scored
	Verified   bool       // the market's price was known at the call
	Snapshot   *Snapshot
	Version    string // of the score; empty: none yet
	Vertical   string
	Resolution *Resolution
	Events     []signal.Event // oldest first
}

// Scoring tells whether the outcome is claimed and the result still to come: a large
// claim is scored in chunks.
func (c *Call) Scoring() bool {
	return c.Resolution != nil && !c.Resolution.Disputed && c.Status == syntax.Pending
}

// Snapshot is the stored price of a market that a call was held against.
type Snapshot struct {
	YesBps int32
	At     time.Time
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
