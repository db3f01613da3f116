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
	// scanLimit is the most markets of one pass; the next one goes on with others.
	scanLimit = 500
	// scanWidth is how many markets are read at a time.
	scanWidth = 8
	// pollEvery is the beat of the poll and the age at which a market near or past
	// its end is read again.
	pollEvery = 30 * time.Second
	// pollFar is the same for the other markets with open calls.
	pollFar = 5 * time.Minute
	// pollNear is how close its end makes a market a near one.
	pollNear = time.Hour
)

// Reasons why a scan leaves a market without an outcome.
const (
	SkipUndecided   = "undecided"   // the venue shows no result
	SkipProvisional = "provisional" // it shows one that is not final, or trading is over
	SkipGrace       = "grace"       // its final word has not stood long enough
	SkipDisputed    = "disputed"    // flagged here
	SkipUnknown     = "unknown"     // the venue does not know the market, or not its state
)

// Report is what one pass did.
type Report struct {
	Busy     bool // another pass was running; nothing was done
	Scanned  int
	Resolved int
	Scored   int64
	Skipped  map[string]int
	Errors   []ScanError
	Took     time.Duration
}

// ScanError is one market that a pass could not settle.
type ScanError struct {
	MarketID string
	Code     string
}

// Pending is a market with open calls and no outcome.
type Pending struct {
	ID       protocol.MarketID
	Disputed bool
}

// Scanner asks venues for the outcomes of markets with open calls.
type Scanner struct {
	store     Store
	markets   *market.Service
	service   *Service
	providers []protocol.Provider
	grace     time.Duration
	now       func() time.Time
	log       *slog.Logger
}

// NewScanner wires the scan. A venue's final word becomes an outcome once it has
// stood for grace and was read again; with none, at its first sight.
func NewScanner(markets *market.Service, service *Service, providers []protocol.Provider,
	grace time.Duration, now func() time.Time, log *slog.Logger,
) *Scanner {
	return &Scanner{store: service.store, markets: markets, service: service, providers: providers, grace: grace, now: now, log: log}
}

// Scan reads up to 500 markets with open calls and claims what their venues have
// decided; it finishes scorings that a crash left. While another pass runs it
// only says so. Fault: db_unavailable.
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

// Run polls until ctx ends: each 30 s the markets near or past their end, each
// five minutes the others. Of all replicas one runs it; it fits the lease of
// pkg/lease.
func (s *Scanner) Run(ctx context.Context) error {
	return dbtime.Every(ctx, pollEvery, func() error {
		if _, err := s.Poll(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "poll of venue outcomes", "error", err)
		}
		return nil
	})
}

// Poll is one pass over the markets that are due.
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

// settle brings one market as far as its venue allows. It returns what its claim scored, or why it has no outcome yet, or neither
// when another resolver claimed it meanwhile.
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
	if reason := s.waits(&m); reason != "" {
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

// waits tells why a market gets no outcome yet; empty: it does.
func (s *Scanner) waits(m *market.Market) string {
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
