package resolution

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store stores resolutions, disputes and proposals. Claim and Dispute read the clock after they have locked the market.
// Therefore a resolution or a dispute is never older than a call that was stored before it.
type Store interface {
	Claim(ctx context.Context, claim Claim, clock func() time.Time) (Result, error)
	// DrainOnce scores the next chunk of calls of a resolved market. more is true if calls remain. It does nothing if the
	// market is disputed.
	DrainOnce(ctx context.Context, marketID string) (tally Tally, more bool, err error)
	Dispute(ctx context.Context, marketID string, disputed bool, reason *string, clock func() time.Time) (Outcome, error)
	GetOutcome(ctx context.Context, marketID string) (Outcome, bool, error)
	// Propose stores a proposal. If the message was processed before, it does nothing.
	Propose(ctx context.Context, p Proposal, now time.Time) error

	// LockScan calls do while it holds the lock of scans. If another process holds the lock, it does not call do, and ok is
	// false.
	LockScan(ctx context.Context, do func(ctx context.Context) error) (ok bool, err error)
	// ListPending returns up to limit markets of the providers with open calls and without a resolution. It returns the markets
	// first that were checked longest ago, and stores now as the time of their check.
	ListPending(ctx context.Context, providers []protocol.Provider, now time.Time, limit int) ([]Pending, error)
	// ListPendingDue is like ListPending for markets that are due. A market that ends before edge is due if it was last checked
	// before near; any other market, if it was last checked before far. A market is always due if its venue has shown a final
	// result since before settled.
	ListPendingDue(
		ctx context.Context, providers []protocol.Provider, now, edge, near, far, settled time.Time, limit int,
	) ([]Pending, error)
	// ListIdle returns up to limit closed and undisputed markets without calls and without a resolution that are due, and stores
	// now as the time of their check. A market is due at least pause after its last check, and later the longer it is closed. It
	// is also due if its venue has shown a final result since before settled, and it was not checked since.
	ListIdle(
		ctx context.Context, providers []protocol.Provider, now time.Time, pause time.Duration, settled time.Time, limit int,
	) ([]Pending, error)
	// ListDrains returns the ids of resolved markets with calls that are not scored yet.
	ListDrains(ctx context.Context) ([]string, error)
}

// Service resolves markets and scores their calls. All resolvers use it.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a Service that stores resolutions in store.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// Finalize resolves a native market. An empty Resolver means manual, and an empty Source means native. Errors:
// invalid_market_id, invalid_verdict, invalid_decided_at, market_not_found, already_resolved (with the member outcome),
// market_disputed, db_unavailable.
func (s *Service) Finalize(ctx context.Context, c Claim) (Result, error) {
	id, err := protocol.ParseMarketID(c.MarketID)
	if err != nil || !id.IsNative() {
		return Result{}, ErrNative
	}
	if c.Resolver == "" {
		c.Resolver = "manual"
	}
	if c.Source == "" {
		c.Source = "native"
	}
	return s.Claim(ctx, c)
}

// Force resolves a market of any venue, with the resolver admin. decidedAt is the time at which the outcome became public, or
// nil. Errors: those of Finalize, except invalid_market_id.
func (s *Service) Force(ctx context.Context, marketID string, verdict protocol.Verdict, decidedAt *time.Time) (Result, error) {
	return s.Claim(ctx, Claim{MarketID: marketID, Verdict: verdict, Resolver: "admin", Source: "admin", DecidedAt: decidedAt})
}

// Claim resolves a market, which is possible only once, and scores the calls on it. In the result, Rest is true if scoring ended
// before all calls were scored, because it failed or the market was disputed; a later scan then scores the rest. Errors: those of
// Finalize, except invalid_market_id.
func (s *Service) Claim(ctx context.Context, c Claim) (Result, error) {
	if _, ok := protocol.ParseVerdict(string(c.Verdict)); !ok {
		return Result{}, ErrVerdict
	}
	switch c.Resolver {
	case "admin", "oracle", "manual":
	default:
		return Result{}, ErrVerdict.WithText("resolver must be admin, oracle or manual").With("field", "resolver")
	}
	if c.DecidedAt != nil && c.DecidedAt.After(s.now()) {
		return Result{}, ErrDecided
	}
	r, err := s.store.Claim(ctx, c, s.now)
	if errors.Is(err, ErrResolved) && apperr.Of(err).Extra["outcome"] == nil { // another resolver has resolved the market first
		o, found, readErr := s.store.GetOutcome(ctx, c.MarketID)
		if readErr != nil || !found {
			return Result{}, err
		}
		return Result{}, ErrResolved.With("outcome", o.Members())
	}
	if err != nil || !r.Rest {
		return r, err
	}
	// The resolution is committed. If the drain fails, or a dispute stops it, the next scan finishes it.
	rest, err := s.Drain(ctx, c.MarketID)
	r.Tally = r.Tally.Add(rest)
	r.Rest = err != nil || r.Tally.Scored < r.Calls
	return r, nil
}

// Drain scores the remaining calls of a resolved market in chunks. It returns early while the market is disputed. A caller may
// repeat it at any time.
func (s *Service) Drain(ctx context.Context, marketID string) (Tally, error) {
	var sum Tally
	for {
		t, more, err := s.store.DrainOnce(ctx, marketID)
		sum = sum.Add(t)
		if err != nil || !more {
			return sum, err
		}
	}
}

// Dispute sets or clears the dispute of a market. After it has cleared the dispute, it scores the remaining calls of a resolved
// market and returns their numbers. Errors: market_not_found, db_unavailable.
func (s *Service) Dispute(ctx context.Context, marketID string, disputed bool, reason *string) (Outcome, Tally, error) {
	o, err := s.store.Dispute(ctx, marketID, disputed, reason, s.now)
	if err != nil || disputed {
		return o, Tally{}, err
	}
	t, err := s.Drain(ctx, marketID)
	return o, t, err
}

// Outcome returns the resolution and the dispute of a market. found is false if the market has neither. Error: db_unavailable.
func (s *Service) Outcome(ctx context.Context, marketID string) (o Outcome, found bool, err error) {
	return s.store.GetOutcome(ctx, marketID)
}
