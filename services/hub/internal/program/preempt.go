package program

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
)

// Bounds of an entry.
const (
	MaxSlots  = 6
	MaxReason = 180
)

// ErrAway: the clock does not answer, or there is none.
var ErrAway = fault.New(fault.Unavailable, "signal_service_unavailable", "the clock does not answer").With("retryAfterMs", 1000)

// Preempt is an entry of a director: a market takes slots of a lane of the default
// programme.
type Preempt struct {
	ID        string
	Lane      string
	MarketID  string
	StartsAt  time.Time
	Slots     int32
	Reason    string // empty: none
	Status    string // queued, airing, done, cancelled
	CreatedAt time.Time
}

// Draft is what a director asks for; what is zero, the clock chooses.
type Draft struct {
	MarketID syntax.MarketID
	Lane     string
	StartsAt time.Time
	Slots    int32
	Reason   string
}

// Director changes the programme by hand. All fault with ErrAway and db_unavailable.
type Director interface {
	// Preempt also faults with invalid_lane, invalid_starts_at, market_not_airable and
	// slot_taken.
	Preempt(ctx context.Context, d Draft) (Preempt, error)
	// Cancel also faults with not_found.
	Cancel(ctx context.Context, id string) (Preempt, error)
	// Preempts lists the newest entries, the latest slot first.
	Preempts(ctx context.Context) ([]Preempt, error)
}
