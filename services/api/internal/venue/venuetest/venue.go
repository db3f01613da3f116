package venuetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// Noon is the reference time of the samples.
var Noon = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// Now is a clock that stands at Noon.
func Now() time.Time { return Noon }

// Venue answers from a table of paths; what is not in it is the venue's own 404. It
// keeps what was asked.
type Venue struct {
	URL   string // with the base
	Meter *venue.Meter

	t        *testing.T
	base     string
	missing  func() string // body of the 404
	registry *prometheus.Registry

	mu      sync.Mutex
	answers map[string]string // path, or path?query, to body
	status  int               // of every answer; 0 is by the table
	asked   []*url.URL
}

// New starts a venue below a base path; it ends with the test. Its 404 is that of
// the adapter's samples.
func New(t *testing.T, base string, answers map[string]string) *Venue {
	t.Helper()
	v := NewPlain(t, answers)
	v.base, v.missing = base, func() string { return Sample(t, "error_not_found_404.json") }
	v.URL += base
	return v
}

// NewPlain starts a venue without a base path and without samples.
func NewPlain(t *testing.T, answers map[string]string) *Venue {
	t.Helper()
	if answers == nil {
		answers = map[string]string{}
	}
	v := &Venue{t: t, answers: answers, registry: prometheus.NewRegistry(), missing: func() string { return `{"error":"not found"}` }}
	v.Meter = venue.NewMeter(v.registry)
	srv := httptest.NewServer(v)
	t.Cleanup(srv.Close)
	v.URL = srv.URL
	return v
}

// ServeHTTP answers one request.
func (v *Venue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, r.URL)
	w.Header().Set("Content-Type", "application/json")
	path, _ := strings.CutPrefix(r.URL.RequestURI(), v.base)
	body, ok := v.answers[path]
	if !ok {
		path, _, _ = strings.Cut(path, "?")
		body, ok = v.answers[path]
	}
	switch {
	case v.status != 0:
		w.WriteHeader(v.status)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		body = v.missing()
	}
	_, _ = w.Write([]byte(body))
}

// Set puts an answer into the table.
func (v *Venue) Set(path, body string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answers[path] = body
}

// Unset takes an answer out of the table.
func (v *Venue) Unset(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.answers, path)
}

// Fail answers everything with a status from now on; 0 is by the table again.
func (v *Venue) Fail(status int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.status = status
}

// Paths are the requests so far, without the base.
func (v *Venue) Paths() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, u := range v.asked {
		out = append(out, strings.TrimPrefix(u.RequestURI(), v.base))
	}
	return out
}

// Counted gives the value of a counter whose labels have all the words.
func (v *Venue) Counted(name string, words ...string) (total float64) {
	v.t.Helper()
	families, err := v.registry.Gather()
	if err != nil {
		v.t.Fatal(err)
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
