package resolution_test

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// sim is the venue simulator, used as Polymarket.
type sim struct{ *venuetest.Simulator }

func (s sim) create(question string) string {
	return string(s.Create(protocol.Polymarket, question, `,"yesPrice":0.4,"tags":["Science"]`))
}

func (s sim) state(id, state, outcome string) {
	body := `{"state":"` + state + `"}`
	if outcome != "" {
		body = `{"state":"` + state + `","outcome":"` + outcome + `"}`
	}
	s.Post("polymarket/markets/"+id, body)
}

func (s sim) fault(mode string) { s.Post("polymarket/fault", `{"mode":"`+mode+`","seconds":60}`) }

// venueLedger is a ledger that reads the venue simulator with the real adapter of Polymarket. Its clock shows the real time
// plus an offset.
type venueLedger struct {
	*ledger
	sim       sim
	catalogue *market.Catalogue
	port      market.Venue
	metrics   *prometheus.Registry // metrics of the venue client
	mu        sync.Mutex
	ahead     time.Duration
}

func (l *venueLedger) time() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().UTC().Add(l.ahead)
}

func (l *venueLedger) advance(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ahead += d
}

// requests returns the number of requests that the venue has received.
func (l *venueLedger) requests() (n int) {
	l.t.Helper()
	families, err := l.metrics.Gather()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "venue_requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			n += int(metric.GetCounter().GetValue())
		}
	}
	return n
}

func setupVenue(t *testing.T, grace time.Duration, perSecond float64) *venueLedger {
	t.Helper()
	l := &venueLedger{sim: sim{venuetest.StartSimulator(t, "")}, metrics: prometheus.NewRegistry()}
	meter := venue.NewMeter(l.metrics)
	gamma, err1 := venue.NewClient(protocol.Polymarket, l.sim.URL+venuetest.Gamma, perSecond, meter, l.time)
	clob, err2 := venue.NewClient(protocol.Polymarket, l.sim.URL+venuetest.Clob, perSecond, meter, l.time)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	l.port = polymarket.New(gamma, clob, true)
	l.ledger = setup(t, grace, l.time, market.Venues{protocol.Polymarket: l.port})
	l.catalogue = market.NewCatalogue(l.markets, slog.New(slog.DiscardHandler))
	return l
}

// called creates a market at the venue and files n calls on it with a time one minute in the past, because the venue states the
// time of an end in whole seconds.
func (l *venueLedger) called(question string, n int) string {
	l.t.Helper()
	id := l.sim.create(question)
	l.advance(-time.Minute)
	defer l.advance(time.Minute)
	if err := l.markets.Ensure(l.t.Context(), protocol.MarketID(id), uuid.NewString(), time.Second); err != nil {
		l.t.Fatal(err)
	}
	l.file(id, n)
	return id
}

func (l *venueLedger) read(id string) market.Market {
	l.t.Helper()
	m, err := l.markets.Get(l.t.Context(), protocol.MarketID(id))
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

func TestScanAgainstTheVenue(t *testing.T) {
	t.Parallel()
	l := setupVenue(t, grace, 1000)
	var ids []string
	for _, q := range []string{"open", "closed", "proposed", "challenged", "yes", "no", "void"} {
		ids = append(ids, l.called("Will the gauge be "+q+" at the end?", 4))
	}
	l.sim.state(ids[1], "closed", "")
	l.sim.state(ids[2], "proposed", "YES")
	l.sim.state(ids[3], "disputed", "NO")
	for i, outcome := range []string{"YES", "NO", "INVALID"} {
		l.sim.state(ids[4+i], "resolved", outcome)
	}
	l.want(l.scan(), 7, 0, 0, map[string]int{resolution.SkipUndecided: 1, resolution.SkipProvisional: 3, resolution.SkipGrace: 3}, 0)
	for _, id := range ids[1:] {
		if m := l.read(id); !m.Provisional || m.Status != protocol.MarketClosed {
			t.Errorf("%s reads %s, provisional %v", m.Title, m.Status, m.Provisional)
		}
	}
	l.advance(grace)
	l.want(l.scan(), 7, 3, 12, map[string]int{resolution.SkipUndecided: 1, resolution.SkipProvisional: 3}, 0)
	for i, want := range []protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid} {
		m := l.read(ids[4+i])
		if m.Status != protocol.MarketResolved || m.Provisional || m.Verdict == nil || *m.Verdict != want || m.ClosePrice == nil || *m.ClosePrice != 4000 {
			t.Errorf("%s reads %s %v, close %v", m.Title, m.Status, m.Verdict, m.ClosePrice)
		}
	}
	if n := l.count(`SELECT count(*) FROM api.signal_results WHERE status = 'void'`); n != 4 {
		t.Errorf("%d void results", n)
	}
	l.want(l.scan(), 4, 0, 0, map[string]int{resolution.SkipUndecided: 1, resolution.SkipProvisional: 3}, 0)
}

func TestScanWhileTheVenueFails(t *testing.T) {
	t.Parallel()
	l := setupVenue(t, 0, 1000)
	id := l.called("Will the line hold?", 1)
	l.sim.state(id, "resolved", "YES")
	for _, mode := range []string{"refuse", "garbage", "429"} {
		l.sim.fault(mode)
		report := l.scan()
		l.want(report, 1, 0, 0, map[string]int{}, 1)
		if len(report.Errors) == 1 && report.Errors[0].Code != "venue_unavailable" {
			t.Errorf("fault %s: errors %v, want venue_unavailable", mode, report.Errors)
		}
	}
	// A new market meanwhile cannot be read. A call on it is stored but not published.
	l.sim.fault("none")
	fresh := l.sim.create("Will it be seen?")
	l.sim.fault("refuse")
	if _, err := l.markets.Get(t.Context(), protocol.MarketID(fresh)); !errors.Is(err, market.ErrUnavailable) {
		t.Errorf("read during the fault: %v, want ErrUnavailable", err)
	}
	service := signal.NewService(l.store, l.markets, l.time)
	if err := l.markets.Ensure(t.Context(), protocol.MarketID(fresh), uuid.NewString(), time.Second); err != nil {
		t.Error(err)
	}
	l.file(fresh, 1)
	if c, err := service.Crowd(t.Context(), fresh, ""); err != nil || c.Yes != 0 {
		t.Errorf("crowd of an unconfirmed market: %+v, %v; want no calls", c, err)
	}
	l.sim.fault("none")
	l.advance(6 * time.Second) // the circuit breaker allows one request after failures
	for _, of := range []string{id, fresh} {
		if _, err := l.markets.Refresh(t.Context(), protocol.MarketID(of)); err != nil {
			t.Error(err)
		}
	}
	if c, err := service.Crowd(t.Context(), fresh, ""); err != nil || c.Yes != 1 {
		t.Errorf("crowd of the confirmed market: %+v, %v; want the call", c, err)
	}
	l.want(l.scan(), 2, 1, 1, map[string]int{resolution.SkipUndecided: 1}, 0)
	if m := l.read(fresh); m.Status != protocol.MarketOpen || m.Title != "Will it be seen?" {
		t.Errorf("the unconfirmed market became %s %q", m.Status, m.Title)
	}
}

func TestColdStartOfTheCatalogue(t *testing.T) {
	t.Parallel()
	l := setupVenue(t, grace, 5) // 5 requests per second, the default
	if err := l.catalogue.Sweep(t.Context(), protocol.Polymarket, l.port); err != nil {
		t.Fatal(err)
	}
	const most = 50 // at five requests per second they take 10 s
	requests := l.requests()
	if n := l.count(`SELECT count(*) FROM api.markets WHERE status = 'open'`); n < 2500 || requests > most {
		t.Errorf("%d open markets after %d requests; want 2500 or more after at most %d", n, requests, most)
	}
	if n := l.count(`SELECT count(DISTINCT lane) FROM api.markets`); n < 6 {
		t.Errorf("markets of %d lanes, want at least 6", n)
	}
	list, err := l.markets.Airable(t.Context(), 400, "")
	if err != nil || len(list) != 400 {
		t.Errorf("%d airable markets, %v", len(list), err)
	}
	for i := range list {
		if !list[i].Airable(l.time()) || i > 0 && list[i].EndDate.Before(*list[i-1].EndDate) {
			t.Fatalf("market %d is not airable or out of order: %+v", i, list[i])
		}
	}
	l.advance(50 * time.Second)
	if err := l.catalogue.RefreshHot(t.Context(), protocol.Polymarket, l.port); err != nil {
		t.Fatal(err)
	}
	if n := l.count(`SELECT count(*) FROM api.market_quotes WHERE at > $1`, l.time().Add(-45*time.Second)); n < 50 {
		t.Errorf("only %d markets have new prices, want 50", n)
	}
}
