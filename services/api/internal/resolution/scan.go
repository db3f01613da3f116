package resolution

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

const (
	// scanLimit is the maximum number of markets of one pass. The next pass continues with other markets.
	scanLimit = 500
	// scanWidth is the number of markets that are read concurrently.
	scanWidth = 8
	// pollEvery is the interval of polls, and the age at which a market near or after its end is read again.
	pollEvery = 30 * time.Second
	// pollFar is the age at which other markets with open calls are read again.
	pollFar = 5 * time.Minute
	// pollNear is the time before its end from which a market is near its end.
	pollNear = time.Hour
)

// Reasons for which a scan does not resolve a market.
const (
	SkipUndecided   = "undecided"   // the venue shows no result
	SkipProvisional = "provisional" // the result is not final, or trading has ended without one
	SkipGrace       = "grace"       // the venue has shown the final result for less than the grace period
	SkipDisputed    = "disputed"    // the market is disputed
	SkipUnknown     = "unknown"     // the venue does not know the market or its state
)

// Report is the result of one pass.
type Report struct {
	Busy     bool // another pass was running; this one did nothing
	Scanned  int
	Resolved int
	Scored   int64
	Skipped  map[string]int
	Errors   []ScanError
	Took     time.Duration
}

// ScanError is the error of one market in a pass.
type ScanError struct {
	MarketID string
	Code     string
}

// Pending is a market with open calls and no outcome.
type Pending struct {
	ID       protocol.MarketID
	Disputed bool
}

// Scanner reads the outcomes of markets with open calls from their venues.
type Scanner struct {
	store     Store
	markets   *market.Service
	service   *Service
	providers []protocol.Provider
	grace     time.Duration
	now       func() time.Time
	log       *slog.Logger
}

// NewScanner returns a Scanner. A venue's final result resolves the market after the venue has shown it for the grace period
// and it was read again. With a grace period of 0, it resolves the market when it is first read.
func NewScanner(markets *market.Service, service *Service, providers []protocol.Provider,
	grace time.Duration, now func() time.Time, log *slog.Logger,
) *Scanner {
	return &Scanner{store: service.store, markets: markets, service: service, providers: providers, grace: grace, now: now, log: log}
}

// Scan reads up to 500 markets with open calls and resolves those that their venues have decided. It also finishes scorings
// that were interrupted. If another scan runs, it only reports Busy. Error: db_unavailable.
func (s *Scanner) Scan(ctx context.Context) (Report, error) {
	var report Report
	start := s.now()
	ok, err := s.store.LockScan(ctx, func(ctx context.Context) (err error) {
		report, err = s.pass(ctx, func() ([]Pending, error) {
			return s.store.ListPending(ctx, s.providers, s.now(), scanLimit)
		})
		return err
	})
	if err != nil {
		return Report{}, err
	}
	report.Busy, report.Took = !ok, s.now().Sub(start)
	if report.Skipped == nil {
		report.Skipped = map[string]int{}
	}
	return report, nil
}

// Run polls until ctx ends: every 30 s the markets near or after their end, every five minutes the others. The leader of all
// replicas runs it with lease.Lead.
func (s *Scanner) Run(ctx context.Context) error {
	return dbtime.Every(ctx, pollEvery, func() error {
		if _, err := s.Poll(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "polling venue outcomes failed", "error", err)
		}
		return nil
	})
}

// Poll makes one pass over the markets that are due.
func (s *Scanner) Poll(ctx context.Context) (Report, error) {
	return s.pass(ctx, func() ([]Pending, error) {
		now := s.now()
		return s.store.ListPendingDue(ctx, s.providers, now, now.Add(pollNear), now.Add(-pollEvery), now.Add(-pollFar),
			now.Add(-s.grace), scanLimit)
	})
}

func (s *Scanner) pass(ctx context.Context, list func() ([]Pending, error)) (Report, error) {
	report := Report{Skipped: map[string]int{}}
	failed := func(marketID string, err error) {
		report.Errors = append(report.Errors, ScanError{MarketID: marketID, Code: apperr.Of(err).Code})
	}
	drains, err := s.store.ListDrains(ctx)
	if err != nil {
		return Report{}, err
	}
	for _, id := range drains {
		scored, err := s.service.Drain(ctx, id)
		report.Scored += scored.Scored
		if err != nil {
			failed(id, err)
		}
	}
	pending, err := list()
	if err != nil {
		return Report{}, err
	}
	var mu sync.Mutex
	var reads errgroup.Group
	reads.SetLimit(scanWidth)
	for _, p := range pending {
		reads.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			scored, skipped, err := s.settle(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			report.Scanned++
			switch {
			case err != nil:
				failed(string(p.ID), err)
			case skipped != "":
				report.Skipped[skipped]++
			case scored != nil:
				report.Resolved++
				report.Scored += scored.Scored
			}
			return nil
		})
	}
	_ = reads.Wait() // no read returns an error
	return report, ctx.Err()
}

// settle reads one market from its venue and resolves it if the venue's result is final. It returns the scored calls, or the
// reason why the market is not resolved, or neither if another resolver has resolved it meanwhile.
func (s *Scanner) settle(ctx context.Context, p Pending) (scored *Tally, skipped string, err error) {
	if p.Disputed {
		return nil, SkipDisputed, nil
	}
	m, err := s.markets.Refresh(ctx, p.ID)
	switch {
	case errors.Is(err, market.ErrNotFound):
		return nil, SkipUnknown, nil
	case err != nil || m.Status == protocol.MarketResolved:
		return nil, "", err
	}
	if reason := s.skipReason(&m); reason != "" {
		return nil, reason, nil
	}
	c := Claim{
		MarketID: string(m.ID), Verdict: *m.FinalVerdict, Resolver: "oracle",
		Source: string(m.Provider), Payout: m.FinalPayout,
	}
	if m.URL != "" {
		c.ProofURL = &m.URL
	}
	r, err := s.service.Claim(ctx, c)
	switch {
	case errors.Is(err, ErrDisputed):
		return nil, SkipDisputed, nil
	case errors.Is(err, ErrResolved):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	return &r.Tally, "", nil
}

// skipReason returns why a market is not resolved yet, or an empty string if it can be.
func (s *Scanner) skipReason(m *market.Market) string {
	switch {
	case m.Disputed:
		return SkipDisputed
	case m.Status == protocol.MarketUnknown:
		return SkipUnknown
	case m.FinalVerdict != nil && m.FinalAt != nil:
		if s.now().Sub(*m.FinalAt) < s.grace {
			return SkipGrace
		}
		return ""
	case m.Status == protocol.MarketClosed:
		return SkipProvisional
	}
	return SkipUndecided
}
