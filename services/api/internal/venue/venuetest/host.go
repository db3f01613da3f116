package venuetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/kalshi"
	"github.com/signalcast/signalcast/services/api/internal/venue/limitless"
	"github.com/signalcast/signalcast/services/api/internal/venue/manifold"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
)

// Noon is the current time in tests that read the sample responses in testdata/samples.
var Noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// Now is a clock function that always returns Noon.
func Now() time.Time { return Noon }

// Base paths of the APIs of the venues at a test host.
const (
	Gamma     = "/gamma" // metadata of Polymarket
	Clob      = "/clob"  // order books of Polymarket
	Kalshi    = "/kalshi/trade-api/v2"
	Limitless = "/limitless"
	Manifold  = "/manifold/v0"
)

// Adapters returns the adapters of all venues for a test host, with a rate limit that no test reaches.
func Adapters(t *testing.T, host string, meter *venue.Meter, now func() time.Time) market.Venues {
	t.Helper()
	var failed error
	client := func(p protocol.Provider, base string) *venue.Client {
		c, err := venue.NewClient(p, host+base, 1e5, meter, now)
		failed = errors.Join(failed, err)
		return c
	}
	venues := market.Venues{
		protocol.Polymarket: polymarket.New(client(protocol.Polymarket, Gamma), client(protocol.Polymarket, Clob+"/"), true),
		protocol.Kalshi:     kalshi.New(client(protocol.Kalshi, Kalshi)),
		protocol.Limitless:  limitless.New(client(protocol.Limitless, Limitless)),
		protocol.Manifold:   manifold.New(client(protocol.Manifold, Manifold), time.Hour),
	}
	if failed != nil {
		t.Fatal(failed)
	}
	return venues
}

// Host is a test server with a fixed response for each known path. It responds to other paths with 404 and records all
// requests.
type Host struct {
	URL   string
	Meter *venue.Meter

	t        *testing.T
	base     string // prefix of the paths of requests; answers and the result of Paths do not contain it
	registry *prometheus.Registry

	mu      sync.Mutex
	answers map[string]string // body by path, or by path and query
	hung    string            // prefix of the paths that are never answered; empty for none
	asked   []string
}

// NewHost starts a host that stops at the end of the test. base is the path prefix of all requests. answers contains the
// response bodies by path without base. The map is not copied.
func NewHost(t *testing.T, base string, answers map[string]string) *Host {
	t.Helper()
	if answers == nil {
		answers = map[string]string{}
	}
	h := &Host{t: t, base: base, answers: answers, registry: prometheus.NewRegistry()}
	h.Meter = venue.NewMeter(h.registry)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	h.URL = srv.URL
	return h
}

// ServeHTTP implements http.Handler.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	path := strings.TrimPrefix(r.URL.RequestURI(), h.base)
	h.asked = append(h.asked, path)
	body, ok := h.answers[path]
	if !ok {
		path, _, _ = strings.Cut(path, "?")
		body, ok = h.answers[path]
	}
	hung := h.hung != "" && strings.HasPrefix(path, h.hung)
	h.mu.Unlock()
	if hung {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		body = `{"error":"not found"}`
	}
	_, _ = w.Write([]byte(body))
}

// Set makes the host respond to requests for a path with the given body.
func (h *Host) Set(path, body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[path] = body
}

// Unset makes the host respond to requests for a path with 404.
func (h *Host) Unset(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.answers, path)
}

// Hang makes the host accept requests whose path starts with prefix, without ever sending a response.
func (h *Host) Hang(prefix string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hung = prefix
}

// Paths returns the path and query of each request so far, in order of arrival and without the base path.
func (h *Host) Paths() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// Counted returns the sum of the counters of one metric that have all the given words as label values. name is the name of
// the metric.
func (h *Host) Counted(name string, words ...string) (total float64) {
	h.t.Helper()
	families, err := h.registry.Gather()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			has := f.GetName() == name
			for _, w := range words {
				has = has && strings.Contains(m.String(), fmt.Sprintf("%q", w))
			}
			if has {
				total += m.GetCounter().GetValue()
			}
		}
	}
	return total
}

// Sample returns a sample response of a venue from venue/PROVIDER/testdata/samples. The path is relative to the directory of
// the test, which must be services/api/internal/venue or next to it.
func Sample(t testing.TB, p protocol.Provider, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "venue", string(p), "testdata", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Edit returns a copy of answer, which must be a response of provider p. It changes members of the market record in the
// copy. A nil value deletes a member.
func Edit(t *testing.T, p protocol.Provider, answer string, changes map[string]any) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(answer), &all); err != nil {
		t.Fatal(err)
	}
	record := all
	if p == protocol.Kalshi {
		record = all["market"].(map[string]any)
	}
	for key, value := range changes {
		if record[key] = value; value == nil {
			delete(record, key)
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
