package resolve

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
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
	ID       syntax.MarketID
	Disputed bool
}

// ScanStore finds what a scan has to look at.
type ScanStore interface {
	// LockScan runs do while no other process scans; ok is false when one does.
	LockScan(ctx context.Context, do func(ctx context.Context) error) (ok bool, err error)
	// ListPending lists markets of the providers with open calls and no outcome,
	// the ones checked longest ago first, and notes that they are being checked.
	ListPending(ctx context.Context, providers []syntax.Provider, now time.Time, limit int) ([]Pending, error)
	// ListPendingDue is the same for those whose last check is older than near for
	// markets that end before edge, and older than far for the others; a final
	// word that has stood since settled is always due.
	ListPendingDue(ctx context.Context, providers []syntax.Provider, now, edge, near, far, settled time.Time, limit int) ([]Pending, error)
	// ListDrains lists claimed markets whose scoring is not finished.
	ListDrains(ctx context.Context) ([]string, error)
}

// Refresher reads a market from its venue and keeps the answer.
type Refresher interface {
	// Refresh faults with market_not_found and venue_unavailable.
	Refresh(ctx context.Context, id syntax.MarketID) (market.Market, error)
}

// Claimer claims outcomes and finishes their scoring.
type Claimer interface {
	Claim(ctx context.Context, c Claim) (Result, error)
	Drain(ctx context.Context, marketID string) (Tally, error)
}

// Scanner asks venues for the outcomes of markets with open calls.
type Scanner struct {
	store     ScanStore
	markets   Refresher
	claims    Claimer
	providers []syntax.Provider
	grace     time.Duration
	now       func() time.Time
	log       *slog.Logger
}

// NewScanner wires the scan. A venue's final word becomes an outcome once it has
// stood for grace and was read again; with none, at its first sight.
func NewScanner(store ScanStore, markets Refresher, claims Claimer, providers []syntax.Provider,
	grace time.Duration, now func() time.Time, log *slog.Logger,
) *Scanner {
	return &Scanner{store: store, markets: markets, claims: claims, providers: providers, grace: grace, now: now, log: log}
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
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if _, err := s.Poll(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "poll of venue outcomes", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
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
	t := tallier{report: Report{Skipped: map[string]int{}}}
	drains, err := s.store.ListDrains(ctx)
	if err != nil {
		return Report{}, err
	}
	for _, id := range drains {
		done, err := s.claims.Drain(ctx, id)
		t.drained(id, done, err)
	}
	pending, err := list()
	if err != nil {
		return Report{}, err
	}
	queue := make(chan Pending)
	var wait sync.WaitGroup
	for range min(scanWidth, len(pending)) {
		wait.Go(func() {
			for p := range queue {
				s.settle(ctx, p, &t)
			}
		})
	}
	for _, p := range pending {
		select {
		case queue <- p:
		case <-ctx.Done():
		}
	}
	close(queue)
	wait.Wait()
	return t.report, ctx.Err()
}

// settle brings one market as far as its venue allows.
func (s *Scanner) settle(ctx context.Context, p Pending, t *tallier) {
	if p.Disputed {
		t.skipped(SkipDisputed)
		return
	}
	m, err := s.markets.Refresh(ctx, p.ID)
	if errors.Is(err, market.ErrNotFound) {
		t.skipped(SkipUnknown)
		return
	}
	if err != nil {
		t.failed(string(p.ID), err)
		return
	}
	if m.Status == syntax.MarketResolved {
		t.skipped("") // claimed by another door meanwhile
		return
	}
	if reason := s.waits(&m); reason != "" {
		t.skipped(reason)
		return
	}
	c := Claim{
		MarketID: string(m.ID), Verdict: *m.FinalVerdict, Resolver: "oracle",
		Source: string(m.Provider), Payout: m.FinalPayout,
	}
	if m.URL != "" {
		c.ProofURL = &m.URL
	}
	r, err := s.claims.Claim(ctx, c)
	switch {
	case errors.Is(err, ErrDisputed):
		t.skipped(SkipDisputed)
	case errors.Is(err, ErrResolved):
		t.skipped("")
	case err != nil:
		t.failed(string(m.ID), err)
	default:
		t.claimed(r.Tally)
	}
}

// waits tells why a market gets no outcome yet; empty: it does.
func (s *Scanner) waits(m *market.Market) string {
	switch {
	case m.Disputed:
		return SkipDisputed
	case m.Status == syntax.MarketUnknown:
		return SkipUnknown
	case m.FinalVerdict != nil && m.FinalAt != nil:
		if s.now().Sub(*m.FinalAt) < s.grace {
			return SkipGrace
		}
		return ""
	case m.Status == syntax.MarketClosed:
		return SkipProvisional
	}
	return SkipUndecided
}

// tallier adds up what the readers of one pass find.
type tallier struct {
	mu     sync.Mutex
	report Report
}

func (t *tallier) skipped(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Scanned++
	if reason != "" {
		t.report.Skipped[reason]++
	}
}

func (t *tallier) failed(id string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Scanned++
	t.report.Errors = append(t.report.Errors, ScanError{MarketID: id, Code: fault.Of(err).Code})
}

func (t *tallier) claimed(scored Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Scanned++
	t.report.Resolved++
	t.report.Scored += scored.Scored
}

func (t *tallier) drained(id string, scored Tally, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Scored += scored.Scored
	if err != nil {
		t.report.Errors = append(t.report.Errors, ScanError{MarketID: id, Code: fault.Of(err).Code})
	}
}
