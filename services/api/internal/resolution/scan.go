package resolution

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

const (
	// scanLimit is the maximum number of markets of one pass. The next pass starts with the markets that were checked longest
	// ago.
	scanLimit = 500
	// scanWidth is the maximum number of markets that are read from venues at the same time.
	scanWidth = 8
	// pollEvery is the interval of polls. It is also the time after which a market is read again whose end is near or has
	// passed.
	pollEvery = 30 * time.Second
	// pollFar is the time after which any other market with open calls is read again.
	pollFar = 5 * time.Minute
	// idleLimit is the maximum number of markets without calls of one pass, after those with calls. A venue can have tens of
	// thousands of them: fifty in each poll are 144,000 a day.
	idleLimit = 50
	// pollNear is the time before the end of a market from which the end counts as near.
	pollNear = time.Hour
)

// Reasons why a scan does not resolve a market. They are keys of Report.Skipped.
const (
	SkipUndecided   = "undecided"   // trading continues and the venue shows no final result
	SkipProvisional = "provisional" // trading has ended, but the venue shows no final result
	SkipGrace       = "grace"       // the final result has been shown for less than the grace period
	SkipDisputed    = "disputed"    // the market is disputed
	SkipUnknown     = "unknown"     // the venue does not have the market, or its state is unknown
)

// Report is the result of one pass over markets without an outcome.
type Report struct {
	Busy     bool           // another scan was running, so this one did nothing
	Scanned  int            // number of markets read
	Resolved int            // number of markets resolved
	Scored   int64          // number of calls scored
	Skipped  map[string]int // number of markets by reason
	Errors   []ScanError
	Took     time.Duration
}

// ScanError identifies a market that a pass could not read or resolve, with the code of the error.
type ScanError struct {
	MarketID string
	Code     string
}

// Pending is a market without an outcome.
type Pending struct {
	ID       protocol.MarketID
	Disputed bool
}

// Scanner reads the outcomes of markets from their venues, and resolves the markets: all markets with open calls, and the closed
// ones without.
type Scanner struct {
	store     Store
	markets   *market.Service
	service   *Service
	providers []protocol.Provider
	grace     time.Duration
	now       func() time.Time
	log       *slog.Logger
}

// NewScanner returns a Scanner for the markets of providers. A market is resolved when its venue has shown the final result for
// the grace period and still shows it. With a grace period of 0, it is resolved when the final result is first read.
func NewScanner(markets *market.Service, service *Service, providers []protocol.Provider,
	grace time.Duration, now func() time.Time, log *slog.Logger,
) *Scanner {
	return &Scanner{store: service.store, markets: markets, service: service, providers: providers, grace: grace, now: now, log: log}
}

// Scan makes one pass over up to scanLimit markets with open calls, and up to idleLimit closed markets without calls that are
// due. It resolves those whose venues show a final result. It also completes scorings that were interrupted. If another Scan is
// running in any process, it does nothing and sets Busy. Error: db_unavailable.
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

// Run calls Poll every pollEvery until ctx ends, and logs errors. Only the leader of all replicas runs it.
func (s *Scanner) Run(ctx context.Context) error {
	return dbtime.Every(ctx, pollEvery, func() error {
		if _, err := s.Poll(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "polling venue outcomes failed", "error", err)
		}
		return nil
	})
}

// Poll makes one pass over the markets that are due. A market whose end is near or has passed is due pollEvery after its last
// check, any other market after pollFar. A market is always due when its venue has shown a final result for the grace period.
// Up to idleLimit closed markets without calls follow. Error: db_unavailable.
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
	now := s.now()
	idle, err := s.store.ListIdle(ctx, s.providers, now, pollFar, now.Add(-s.grace), idleLimit)
	if err != nil {
		return Report{}, err
	}
	var mu sync.Mutex
	var reads errgroup.Group
	reads.SetLimit(scanWidth)
	for _, p := range slices.Concat(pending, idle) {
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
	_ = reads.Wait() // the functions return no errors
	return report, ctx.Err()
}

// settle reads one market from its venue and resolves it if the result is final. It returns the numbers of scored calls, or the
// reason why the market is not resolved. It returns neither if another resolver has resolved the market.
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

// skipReason returns the reason why a market cannot be resolved yet, or an empty string if it can be.
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
