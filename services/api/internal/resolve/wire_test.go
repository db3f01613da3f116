package resolve_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/oracle/categorise"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/resolve"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
)

// wire is one server that plays the four venues with the bodies of their
// samples; what it does not have is 404 in the venues' form.
type wire struct {
	mu     sync.Mutex
	bodies map[string]string // by path, below the word of the provider
	asked  map[string]int    // by the same
	hung   string            // prefix of the paths that get no answer
}

func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked[r.URL.Path]++
	body, ok := w.bodies[r.URL.Path]
	hung := w.hung != "" && strings.HasPrefix(r.URL.Path, w.hung)
	w.mu.Unlock()
	if hung {
		<-r.Context().Done()
		return
	}
	out.Header().Set("Content-Type", "application/json")
	if !ok {
		out.WriteHeader(http.StatusNotFound)
		body = `{"error":"not found"}`
	}
	_, _ = out.Write([]byte(body))
}

func (w *wire) set(path, body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies[path] = body
}

func (w *wire) hang(prefix string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hung = prefix
}

// take gives how often each path was asked for since the last time.
func (w *wire) take() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.asked
	w.asked = map[string]int{}
	return was
}

// wireLedger is the scan over the real clients of the four venues.
type wireLedger struct {
	*ledger
	*wire
	markets *market.Service
	clock   *testkit.Clock
}

// setupWire wires it by a clock that stands still, or with running goes on too.
func setupWire(t *testing.T, running bool) *wireLedger {
	t.Helper()
	w := &wireLedger{wire: &wire{bodies: map[string]string{}, asked: map[string]int{}}, clock: testkit.NewClock(noon)}
	now, start := w.clock.Now, time.Now()
	if running {
		now = func() time.Time { return w.clock.Now().Add(time.Since(start)) }
	}
	srv := httptest.NewServer(w.wire)
	t.Cleanup(srv.Close)
	meter, rate := venue.NewMeter(prometheus.NewRegistry()), 10_000.0
	p, err1 := polymarket.New(polymarket.Config{
		GammaURL: srv.URL + "/polymarket", ClobURL: srv.URL + "/clob", RequestsPerSecond: rate, PastEndIsProvisional: true,
	}, meter, now)
	k, err2 := kalshi.New(kalshi.Config{URL: srv.URL + "/kalshi", RequestsPerSecond: rate}, meter, now)
	l, err3 := limitless.New(limitless.Config{URL: srv.URL + "/limitless", RequestsPerSecond: rate}, meter, now)
	m, err4 := manifold.New(manifold.Config{URL: srv.URL + "/manifold", RequestsPerSecond: rate}, meter, now)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	venues := market.Venues{
		syntax.Polymarket: venue.Port(p), syntax.Kalshi: venue.Port(k), syntax.Limitless: venue.Port(l), syntax.Manifold: venue.Port(m),
	}
	w.ledger = setup(t, grace, now, func(store *postgres.Store) resolve.Refresher {
		w.markets = market.NewService(store, venues, market.Classify{
			Lane:     func(title string, tags []string) syntax.Lane { return categorise.Classify(title, tags).Lane },
			Category: categorise.Category,
		}, true, now)
		t.Cleanup(w.markets.Close)
		return w.markets
	})
	return w
}

// home is where a venue has the record of one market.
func home(id syntax.MarketID) string {
	dir := map[syntax.Provider]string{
		syntax.Polymarket: "/polymarket/markets", syntax.Kalshi: "/kalshi/markets", syntax.Limitless: "/limitless/markets", syntax.Manifold: "/manifold/market",
	}[id.Provider()]
	return path.Join(dir, id.NativeKey())
}

// called puts an open market with n calls from before the end of every sample.
func (w *wireLedger) called(id syntax.MarketID, n int) {
	w.t.Helper()
	now := w.clock.Now()
	w.clock.Set(now.AddDate(-5, 0, 0))
	w.venueMarket(string(id), noon.Add(time.Hour), false)
	w.file(string(id), n)
	w.clock.Set(now)
}

func sample(t *testing.T, p syntax.Provider, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "venue", string(p), "testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// edited is a sample with some members set anew; nil takes one away.
func edited(t *testing.T, p syntax.Provider, name string, changes map[string]any) string {
	t.Helper()
	var box map[string]any
	if err := json.Unmarshal([]byte(sample(t, p, name)), &box); err != nil {
		t.Fatal(err)
	}
	record := box
	if inner, ok := box["market"].(map[string]any); ok {
		record = inner
	}
	maps.Copy(record, changes)
	maps.DeleteFunc(record, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(box)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// expected is what a sample says, from the table that comes with the samples.
type expected struct {
	ID          syntax.MarketID
	Status      string
	Provisional bool
	Outcome     *syntax.Verdict
}

func expectations(t *testing.T, p syntax.Provider) map[string]expected {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "venue", string(p), "testdata", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct{ Records map[string]*expected }
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	out := map[string]expected{}
	for name, e := range table.Records {
		if e != nil && e.ID != "" && strings.HasPrefix(name, "market_") {
			out[name] = *e
		}
	}
	return out
}

// outcome is the claim on a market: verdict, source and payout, or nothing.
func (w *wireLedger) outcome(id syntax.MarketID) (said string) {
	w.t.Helper()
	err := w.admin.QueryRow(w.t.Context(), `SELECT coalesce(string_agg(outcome || ' ' || source || ' ' || coalesce(payout, '-'), ', '), '')
		FROM api.market_resolutions WHERE market_id = $1`, string(id)).Scan(&said)
	if err != nil {
		w.t.Fatal(err)
	}
	return said
}
