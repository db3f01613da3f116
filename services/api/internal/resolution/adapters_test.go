package resolution_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/venue/venuetest"
)

// adapterLedger is a ledger that reads recorded answers of the four venues with their real adapters.
type adapterLedger struct {
	*ledger
	*venuetest.Host
	clock *testkit.Clock
	taken int // number of requests that take has returned
}

// take returns the number of requests since the last call, by path.
func (w *adapterLedger) take() map[string]int {
	paths, counts := w.Paths(), map[string]int{}
	for _, path := range paths[w.taken:] {
		path, _, _ = strings.Cut(path, "?")
		counts[path]++
	}
	w.taken = len(paths)
	return counts
}

// setupAdapters returns an adapterLedger. Its clock shows the time that the test sets. If running is true, real time is added.
func setupAdapters(t *testing.T, running bool) *adapterLedger {
	t.Helper()
	w := &adapterLedger{Host: venuetest.NewHost(t, "", nil), clock: testkit.NewClock(noon)}
	now, start := w.clock.Now, time.Now()
	if running {
		now = func() time.Time { return w.clock.Now().Add(time.Since(start)) }
	}
	w.ledger = setup(t, grace, now, venuetest.Adapters(t, w.URL, w.Meter, now))
	return w
}

// recordPath returns the path at which a venue answers with one market.
func recordPath(id protocol.MarketID) string {
	dir := map[protocol.Provider]string{
		protocol.Polymarket: venuetest.Gamma + "/markets", protocol.Kalshi: venuetest.Kalshi + "/markets",
		protocol.Limitless: venuetest.Limitless + "/markets", protocol.Manifold: venuetest.Manifold + "/market",
	}[id.Provider()]
	return path.Join(dir, id.NativeKey())
}

// called stores an open market, and files n calls on it with a time five years in the past, which is before the end of every
// sample.
func (w *adapterLedger) called(id protocol.MarketID, n int) {
	w.t.Helper()
	now := w.clock.Now()
	w.clock.Set(now.AddDate(-5, 0, 0))
	w.venueMarket(string(id), noon.Add(time.Hour), false)
	w.file(string(id), n)
	w.clock.Set(now)
}

// edited returns a sample of a venue's answer with changed members. A nil value deletes the member.
func edited(t *testing.T, p protocol.Provider, name string, changes map[string]any) string {
	t.Helper()
	return venuetest.Edit(t, p, venuetest.Sample(t, p, name), changes)
}

// expected is the state of a market that the adapter must read from a sample.
type expected struct {
	ID          protocol.MarketID
	Status      string
	Provisional bool
	Outcome     *protocol.Verdict
}

func expectations(t *testing.T, p protocol.Provider) map[string]expected {
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

// outcome returns the verdict, the source and the payout of the resolution of a market, or an empty text if there is none.
func (w *adapterLedger) outcome(id protocol.MarketID) (claim string) {
	w.t.Helper()
	err := w.admin.QueryRow(w.t.Context(), `SELECT coalesce(string_agg(outcome || ' ' || source || ' ' || coalesce(payout, '-'), ', '), '')
		FROM api.market_resolutions WHERE market_id = $1`, string(id)).Scan(&claim)
	if err != nil {
		w.t.Fatal(err)
	}
	return claim
}
