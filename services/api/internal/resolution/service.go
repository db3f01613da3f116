package resolution

import (
	"context"
	"errors"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Store stores resolutions. Each method is one transaction. It reads the clock after it has locked the market. A resolution
// or a dispute is therefore never older than a call that was stored before it.
type Store interface {
	Claim(ctx context.Context, claim Claim, clock func() time.Time) (Result, error)
	// DrainOnce scores the next chunk of a resolved market. more reports that calls remain. It does nothing for a disputed
	// market.
	DrainOnce(ctx context.Context, marketID string) (tally Tally, more bool, err error)
	Dispute(ctx context.Context, marketID string, disputed bool, reason *string, clock func() time.Time) (Outcome, error)
	GetOutcome(ctx context.Context, marketID string) (Outcome, bool, error)
	// Propose does nothing if the message has been processed.
	Propose(ctx context.Context, p Proposal, now time.Time) error

	// LockScan calls do unless another process scans; ok is false then.
	LockScan(ctx context.Context, do func(ctx context.Context) error) (ok bool, err error)
	// ListPending returns markets of the providers with open calls and without a resolution, those checked longest ago first.
	// It stores now as the time of their check.
	ListPending(ctx context.Context, providers []protocol.Provider, now time.Time, limit int) ([]Pending, error)
	// ListPendingDue is ListPending for the markets that are due: last checked before near if they end before edge, before
	// far if they end later. A market whose venue has shown a final result since before settled is always due.
	ListPendingDue(
		ctx context.Context, providers []protocol.Provider, now, edge, near, far, settled time.Time, limit int,
	) ([]Pending, error)
	// ListDrains returns resolved markets whose scoring is not finished.
	ListDrains(ctx context.Context) ([]string, error)
}

// Service resolves markets for all resolvers.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a Service.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// Finalize resolves a native market. Errors: invalid_market_id, invalid_verdict, invalid_decided_at, market_not_found,
// already_resolved (extra outcome), market_disputed.
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

// Force resolves any market as resolver admin. decidedAt is the time at which the outcome was public, or nil. Errors: those
// of Finalize.
func (s *Service) Force(ctx context.Context, marketID string, verdict protocol.Verdict, decidedAt *time.Time) (Result, error) {
	return s.Claim(ctx, Claim{MarketID: marketID, Verdict: verdict, Resolver: "admin", Source: "admin", DecidedAt: decidedAt})
}

// Claim stores a resolution, once per market, and scores its calls.
func (s *Service) Claim(ctx context.Context, c Claim) (Result, error) {
	if _, ok := protocol.ParseVerdict(string(c.Verdict)); !ok {
		return Result{}, ErrVerdict
	}
	switch c.Resolver {
	case "admin", "oracle", "manual":
	default:
		return Result{}, ErrVerdict.Say("resolver must be admin, oracle or manual").With("field", "resolver")
	}
	if c.DecidedAt != nil && c.DecidedAt.After(s.now()) {
		return Result{}, ErrDecided
	}
	r, err := s.store.Claim(ctx, c, s.now)
	if errors.Is(err, ErrResolved) && apperr.Of(err).Extra["outcome"] == nil { // another resolver was faster
		o, found, readErr := s.store.GetOutcome(ctx, c.MarketID)
		if readErr != nil || !found {
			return Result{}, err
		}
		return Result{}, ErrResolved.With("outcome", o.Members())
	}
	if err != nil || !r.Rest {
		return r, err
	}
	// The resolution is committed. If the drain fails, the next scan finishes it.
	rest, err := s.Drain(ctx, c.MarketID)
	r.Tally = r.Tally.Add(rest)
	r.Rest = err != nil
	return r, nil
}

// Drain scores the remaining calls of a resolved market in chunks. It stops while the market is disputed, and may be repeated
// at any time.
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

// Dispute sets or clears the dispute of a market. After clearing, it scores the calls that remain of an earlier resolution.
// Error: market_not_found.
func (s *Service) Dispute(ctx context.Context, marketID string, disputed bool, reason *string) (Outcome, Tally, error) {
	o, err := s.store.Dispute(ctx, marketID, disputed, reason, s.now)
	if err != nil || disputed {
		return o, Tally{}, err
	}
	t, err := s.Drain(ctx, marketID)
	return o, t, err
}

// Outcome returns the resolution and dispute of a market. found is false if it has neither.
func (s *Service) Outcome(ctx context.Context, marketID string) (o Outcome, found bool, err error) {
	return s.store.GetOutcome(ctx, marketID)
}
