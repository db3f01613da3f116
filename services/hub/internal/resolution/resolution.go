package resolution

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/market"
)

// Outcome is the record of a claim, of a dispute flag, or of both.
type Outcome struct {
	Outcome       *string // YES, NO, INVALID
	Resolver      *string
	Source        *string
	ProofURL      *string
	ResolvedAt    time.Time // zero: no claim
	Disputed      bool
	DisputeReason *string
	DisputedAt    time.Time
}

// Settled reports a claim that stands undisputed.
func (o Outcome) Settled() bool { return o.Outcome != nil && !o.Disputed }

// Tally counts what a claim scored.
type Tally struct {
	Scored, Won, Lost, Void int64
}

// Resolver names the path of a claim.
type Resolver string

// The resolvers.
const (
	ByAdmin  Resolver = "admin"
	ByOracle Resolver = "oracle"
	ByManual Resolver = "manual"
)

// Bounds of what a director writes.
const (
	MaxReason = 500
	MaxName   = 64
	MaxProof  = 500
)

// ErrNotNative refuses to finalize a market of a venue.
var ErrNotNative = fault.New(fault.Invalid, "invalid_market_id",
	"only the service's own markets are finalized").With("field", "marketId")

// Finalize is the verdict on a native market.
type Finalize struct {
	MarketID    syntax.MarketID
	Verdict     syntax.Verdict
	Reason      string
	FinalizedBy string
	Resolver    Resolver
	Source      string
	ProofURL    string
	DecidedAt   time.Time // when the outcome was public; zero: not stated
}

// Defaults of a Finalize.
const (
	DefaultResolver = ByManual
	DefaultSource   = "native"
)

// Force is the verdict on any market.
type Force struct {
	MarketID  syntax.MarketID
	Verdict   syntax.Verdict
	DecidedAt time.Time // as in Finalize
}

// Dispute sets or clears the flag of a market.
type Dispute struct {
	MarketID syntax.MarketID
	Disputed bool
	Reason   *string
}

// Scan is what one scan of the venues did.
type Scan struct {
	Busy                      bool
	Scanned, Resolved, Scored int64
	Skipped                   map[string]int64
	Errors                    []ScanError
	Took                      time.Duration
}

// ScanError is a market that a scan could not judge.
type ScanError struct {
	MarketID string
	Code     string
}

// Native is a native market with the verdict that its creator proposed.
type Native struct {
	Market   market.Market
	Proposal *Proposal
}

// Proposal is a verdict that waits for a director.
type Proposal struct {
	Verdict  string
	ProofURL *string
	At       time.Time
}

// NativeFilter selects native markets.
type NativeFilter struct {
	Status string // open (not resolved), closed, resolved, all
	Due    bool
	Limit  int
}

// Limits of a list of native markets.
const (
	NativeDefault = 20
	NativeMax     = 100
)

// ParseNativeStatus reads a `status` query parameter; unknown is open.
func ParseNativeStatus(raw string) string {
	switch raw {
	case "closed", "resolved", "all":
		return raw
	}
	return "open"
}

// Ledger is the owner of claims. Claims fault with invalid_decided_at, market_not_found,
// already_resolved (with the outcome) and market_disputed.
type Ledger interface {
	Finalize(ctx context.Context, f Finalize) (Outcome, Tally, error)
	Force(ctx context.Context, f Force) (Outcome, Tally, error)
	Scan(ctx context.Context) (Scan, error)
	// Dispute gives the record as it stands, nil when nothing is left of it.
	Dispute(ctx context.Context, d Dispute) (o *Outcome, scored int64, err error)
	// Outcome is nil when there is neither claim nor flag.
	Outcome(ctx context.Context, id syntax.MarketID) (*Outcome, error)
	Native(ctx context.Context, f NativeFilter) ([]Native, error)
}
