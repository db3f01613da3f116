package resolution

import (
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Errors of resolving and disputing markets. Clients receive the codes and texts.
var (
	ErrNotFound = apperr.New(apperr.NotFound, "market_not_found", "no such market")
	ErrResolved = apperr.New(apperr.Conflict, "already_resolved", "the market is already resolved")
	ErrDisputed = apperr.New(apperr.Conflict, "market_disputed",
		"the market is disputed; an administrator must clear the dispute first")
	ErrNative = apperr.New(apperr.Invalid, "invalid_market_id",
		"marketId must be the id of a native market (prefix native-)").With("field", "marketId")
	ErrVerdict = apperr.New(apperr.Invalid, "invalid_verdict", "verdict must be YES, NO or INVALID").With("field", "verdict")
	ErrDecided = apperr.New(apperr.Invalid, "invalid_decided_at", "decidedAt must not be in the future").With("field", "decidedAt")
)

// Claim is an outcome of a market that a resolver submits.
type Claim struct {
	MarketID    string
	Verdict     protocol.Verdict
	Resolver    string // admin, oracle or manual
	Source      string
	ProofURL    *string
	Reason      *string
	FinalizedBy *string
	Payout      *string    // payout that the venue states for an INVALID market; nil: none
	DecidedAt   *time.Time // time at which the outcome became public; nil: not stated
}

// Outcome contains the resolution and the dispute of a market. Without a resolution, only the members of the dispute are set.
type Outcome struct {
	Verdict       *protocol.Verdict
	Resolver      *string
	Source        *string
	ProofURL      *string
	ResolvedAt    *time.Time
	Disputed      bool
	DisputeReason *string
	DisputedAt    *time.Time
}

// Members returns the outcome with the member names of the public API. The body of the error already_resolved contains it.
func (o Outcome) Members() map[string]any {
	m := map[string]any{
		"outcome": text(o.Verdict), "resolver": text(o.Resolver), "source": text(o.Source), "proofUrl": text(o.ProofURL),
		"resolvedAt": stamp(o.ResolvedAt), "disputed": o.Disputed, "disputeReason": text(o.DisputeReason), "disputedAt": stamp(o.DisputedAt),
	}
	return m
}

func text[T ~string](s *T) any {
	if s == nil {
		return nil
	}
	return string(*s)
}

func stamp(t *time.Time) any {
	if t == nil {
		return nil
	}
	return protocol.Stamp(*t)
}

// ScoringVersion is the version of the scoring rules (docs/scores.md), stored with every result. Results of version 1.0 do
// not count.
const ScoringVersion = "1.1"

// Accuracy returns 100*won/(won+lost) rounded half up; 0 without a decided call.
func Accuracy(won, lost int64) int {
	resolved := won + lost
	if resolved == 0 {
		return 0
	}
	return int((200*won + resolved) / (2 * resolved))
}

// Tally contains the numbers of calls that were scored, in total and by result.
type Tally struct {
	Scored, Won, Lost, Void int64
}

// Add returns a Tally with the sums of the numbers in t and u.
func (t Tally) Add(u Tally) Tally {
	return Tally{t.Scored + u.Scored, t.Won + u.Won, t.Lost + u.Lost, t.Void + u.Void}
}

// Result is the result of a Claim. Calls is the number of calls on the market. Rest is true if Drain must still score some of
// them.
type Result struct {
	Outcome Outcome
	Calls   int64
	Tally   Tally
	Rest    bool
}
