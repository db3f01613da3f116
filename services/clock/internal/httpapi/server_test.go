package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	"github.com/signalcast/signalcast/pkg/reader"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// noon is a time in slot 2933988, about two minutes after the start of the slot.
var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// fixture is a Server whose data and time the test sets.
type fixture struct {
	*Server
	clock  *testkit.Clock
	copies program.Copies

	mu       sync.Mutex
	degraded []string
}

// set replaces the copies of the markets and of the rundown.
func (s *fixture) set(pool *program.Pool, rundown *program.Rundown) {
	s.copies.Markets.Store(pool)
	s.copies.Rundown.Store(rundown)
}

func setup(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	s := &fixture{clock: testkit.NewClock(noon)}
	programs := program.NewService(&s.copies, program.DefaultLanes(), s.clock.Now)
	health := httpx.NewHealth("nonce", s.clock.Now)
	health.Up()
	s.Server = New(Config{
		Programs: programs, Health: health, Log: slog.New(slog.DiscardHandler), Now: s.clock.Now,
		Addresses: ratelimit.NewShared(nil, ratelimit.Config{Name: "addr", Limit: 600, Window: time.Minute, Now: s.clock.Now}),
		Verify:    verify,
		Degraded: func(route, source string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.degraded = append(s.degraded, route+" "+source)
		},
	})
	t.Cleanup(s.Close)
	s.set(program.NewPool(markets(), noon, 1), &program.Rundown{Entries: entries(), LoadedAt: noon, Version: 1})
	return s
}

func markets() []program.Market {
	open := program.Market{Provider: protocol.Polymarket, Status: protocol.MarketOpen, Yes: 3150, Volume: 182000, DayVolume: 9100}
	gauge, bare, closed := open, open, open
	gauge.ID, gauge.Title, gauge.Lane, gauge.EventKey = "701122", `Will "the gauge" read <6 m & fall?`, "crypto", "ostrava-flood"
	gauge.End = time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC).UnixMilli()
	gauge.Signals, gauge.Tapes, gauge.Takes, gauge.Streams = 42, 3, 6, 1
	bare.ID, bare.Title, bare.Lane, bare.Provider = "kalshi-ABC", "Who knows?", "sports", protocol.Kalshi
	bare.End, bare.Yes, bare.Volume, bare.DayVolume = noon.Add(30*time.Minute).UnixMilli(), 5000, program.Unknown, program.Unknown
	closed.ID, closed.Title, closed.Lane, closed.Status, closed.Yes = "5", "Is it over?", "tv", protocol.MarketResolved, program.NoPrice
	return []program.Market{gauge, bare, closed}
}

func entries() []program.Entry {
	k := program.SlotAt(noon)
	var out []program.Entry
	for _, m := range markets() {
		for d := range program.Slot(2) {
			out = append(out, program.Entry{Lane: m.Lane, Slot: k + d, Market: m.ID, Title: m.Title, EventKey: m.EventKey, End: m.End})
		}
	}
	return out
}

func (s *fixture) get(t *testing.T, target string, header ...string) *http.Response {
	t.Helper()
	return s.send(t, http.MethodGet, target, header...)
}

func (s *fixture) send(t *testing.T, method, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return testkit.Serve(s, r).Result()
}

func body(t *testing.T, r *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGolden(t *testing.T) {
	s := setup(t)
	for name, target := range map[string]string{
		"timeline":     "/program/timeline?limit=7",
		"hot":          "/program/channel?preset=hot&limit=2",
		"spec":         "/program/channel?limit=4&spec=" + url.QueryEscape(`{"categories":["SPORT"],"minVolume":0}`),
		"spec_none":    "/program/channel?spec=" + url.QueryEscape(`{"categories":["economy"]}`),
		"now":          "/program/now",
		"now_sports":   "/program/now?lane=sports",
		"now_tv":       "/program/now?lane=ENTERTAINMENT",
		"now_empty":    "/program/now?lane=economy",
		"next":         "/program/next",
		"next_hot":     "/program/next?preset=hot",
		"invalid_spec": "/program/channel?spec=" + url.QueryEscape(`{"minYes":60,"maxYes":40}`),
		"not_found":    "/program/later",
	} {
		testkit.Golden(t, name+".json", body(t, s.get(t, target)))
	}
}

func TestHeaders(t *testing.T) {
	s := setup(t)
	for target, want := range map[string]struct {
		status int
		cache  string
	}{
		"/program/timeline":                           {200, "public, s-maxage=30, stale-while-revalidate=60"},
		"/program/channel?preset=hot":                 {200, "public, s-maxage=30, stale-while-revalidate=60"},
		"/program/channel?preset=close":               {200, "public, s-maxage=1"}, // an empty programme
		"/program/channel?preset=nonsense&limit=x":    {200, "public, s-maxage=30, stale-while-revalidate=60"},
		"/program/now":                                {200, "public, s-maxage=5"},
		"/program/next?lane=nonsense":                 {200, "public, s-maxage=5"},
		"/program/channel?spec=%7B":                   {400, "no-store"},
		"/program/channel?spec=" + long(2049):         {400, "no-store"},
		"/program/channel?spec=" + long(5000):         {400, "no-store"},
		"/healthz":                                    {200, "no-store"},
		"/readyz":                                     {200, "no-store"},
		"/program/timeline?limit=0&preset=hot&spec=x": {200, "public, s-maxage=30, stale-while-revalidate=60"},
	} {
		for range 2 { // the first answer builds the page, the second comes from the cache
			r := s.get(t, target)
			if got := r.Header.Get("Cache-Control"); r.StatusCode != want.status || got != want.cache {
				t.Errorf("%.60s: %d %q, want %d %q", target, r.StatusCode, got, want.status, want.cache)
			}
			if r.Header.Get("Access-Control-Allow-Origin") != "*" || r.Header.Get("Access-Control-Allow-Methods") != "GET, OPTIONS" ||
				r.Header.Get("Access-Control-Max-Age") != "86400" || r.Header.Get("X-Request-Id") == "" {
				t.Errorf("%.60s: headers %v", target, r.Header)
			}
		}
	}
	if r := s.send(t, http.MethodPost, "/program/now"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" ||
		r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("POST: %d %v", r.StatusCode, r.Header)
	}
	if r := s.send(t, http.MethodOptions, "/program/now"); r.StatusCode != 204 || r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("OPTIONS: %d %v", r.StatusCode, r.Header)
	}
	id := "0199f0a4-0000-7000-8000-000000000001"
	for range 2 {
		if r := s.get(t, "/program/timeline?limit=3", "X-Request-Id", id); r.Header.Get("X-Request-Id") != id {
			t.Errorf("request id %q", r.Header.Get("X-Request-Id"))
		}
	}
}

func long(n int) string { return `{"pad":"` + strings.Repeat("x", n-10) + `"}` }

func TestRevalidation(t *testing.T) {
	s := setup(t)
	for _, target := range []string{"/program/timeline", "/program/channel?preset=hot", "/program/now", "/program/next?lane=crypto"} {
		first := s.get(t, target)
		tag := first.Header.Get("Etag")
		s.clock.Advance(500 * time.Millisecond)
		again := s.get(t, target, "If-None-Match", tag)
		if tag == "" || again.StatusCode != http.StatusNotModified || len(body(t, again)) != 0 {
			t.Errorf("%s: %q, then %d", target, tag, again.StatusCode)
		}
		if r := s.get(t, target, "If-None-Match", `"other"`); r.StatusCode != http.StatusOK || len(body(t, r)) == 0 {
			t.Errorf("%s: status %d for another ETag; want 200", target, r.StatusCode)
		}
	}
	if r := s.get(t, "/program/timeline", "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "gzip" {
		t.Error("a long page is not compressed")
	}
}

// TestCacheEndsAtBoundary checks the answers and cache times shortly before and after the end of a slot.
func TestCacheEndsAtBoundary(t *testing.T) {
	s := setup(t)
	end := program.SlotAt(noon).End()
	for before, want := range map[time.Duration]string{
		5 * time.Second: "public, s-maxage=5", 4999 * time.Millisecond: "public, s-maxage=4",
		time.Second: "public, s-maxage=1", time.Millisecond: "public, s-maxage=0",
	} {
		s.clock.Set(end.Add(-before))
		s.set(program.NewPool(markets(), s.clock.Now(), 1), s.copies.Rundown.Load())
		if got := s.get(t, "/program/now").Header.Get("Cache-Control"); got != want {
			t.Errorf("%s before the boundary: %q, want %q", before, got, want)
		}
	}
	for at, want := range map[time.Duration]string{-time.Millisecond: "default:crypto:2933988:c", 0: "default:crypto:2933989:b", 10 * time.Second: "default:crypto:2933989:c"} {
		s.clock.Set(end.Add(at))
		var got openapi.SegmentAnswer
		if err := json.Unmarshal(body(t, s.get(t, "/program/now")), &got); err != nil || got.Segment == nil || got.Segment.SegmentID != want {
			t.Errorf("%s after the boundary: %+v, %v, want %s", at, got.Segment, err, want)
		}
	}
}

func TestDegraded(t *testing.T) {
	s := setup(t)
	check := func(name, source string, empty bool, targets ...string) {
		t.Helper()
		for _, target := range targets {
			r := s.get(t, target)
			b := body(t, r)
			if r.StatusCode != 200 || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("X-Degraded") != source ||
				r.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: %s: %d %v", name, target, r.StatusCode, r.Header)
			}
			bare := strings.Contains(string(b), `"segments":[]`) && strings.Contains(string(b), `"lanes":[]`) ||
				strings.Contains(string(b), `"segment":null`)
			if bare != empty || !json.Valid(b) {
				t.Errorf("%s: %s: %s", name, target, b)
			}
		}
	}
	s.set(nil, nil)
	check("no data", "postgres", true, "/program/timeline", "/program/now", "/program/next", "/program/channel")
	check("no data", "api", true, "/program/channel?preset=hot", "/program/now?preset=close", "/program/channel?spec={}")
	s.set(nil, &program.Rundown{Entries: entries(), LoadedAt: noon, Version: 2})
	check("no ledger", "api", false, "/program/timeline", "/program/now")
	var got openapi.SegmentAnswer
	if err := json.Unmarshal(body(t, s.get(t, "/program/now?lane=crypto")), &got); err != nil || got.Segment == nil || got.Segment.YesPrice != nil ||
		got.Segment.Volume != nil || got.Segment.Title == "" {
		t.Errorf("now without the ledger: %+v, %v", got.Segment, err)
	}
	s.set(program.NewPool(markets(), noon.Add(-2*time.Minute), 3), &program.Rundown{Entries: entries(), LoadedAt: noon, Version: 2})
	check("old markets", "api", false, "/program/timeline", "/program/now", "/program/channel?preset=hot")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, want := range []string{"/program/timeline postgres", "/program/channel api", "/program/now api"} {
		if !slices.Contains(s.degraded, want) {
			t.Errorf("%q is not among the reported degradations %q", want, s.degraded)
		}
	}
}

// TestEmptyProgramme checks the empty programme of a service that has just started. Caches may store it for only one second, and
// the first filled programme is shown at once.
func TestEmptyProgramme(t *testing.T) {
	s := setup(t)
	s.set(program.NewPool(nil, noon, 1), &program.Rundown{LoadedAt: noon, Version: 1})
	targets := []string{"/program/timeline", "/program/channel?preset=hot", "/program/channel?spec={}"}
	for _, target := range targets {
		for range 2 {
			r := s.get(t, target)
			if b := body(t, r); r.StatusCode != 200 || r.Header.Get("Cache-Control") != "public, s-maxage=1" ||
				r.Header.Get("X-Degraded") != "" || !strings.Contains(string(b), `"total":0`) {
				t.Errorf("%s: %d %v %s", target, r.StatusCode, r.Header, b)
			}
		}
	}
	s.clock.Advance(30 * time.Second) // computed channels choose their markets again
	s.set(program.NewPool(markets(), s.clock.Now(), 2), &program.Rundown{Entries: entries(), LoadedAt: noon, Version: 2})
	for _, target := range targets {
		r := s.get(t, target)
		if b := body(t, r); !strings.Contains(r.Header.Get("Cache-Control"), "s-maxage=30") || strings.Contains(string(b), `"total":0`) {
			t.Errorf("%s, filled: %v %s", target, r.Header, b)
		}
	}
	s.set(program.NewPool(nil, s.clock.Now(), 3), &program.Rundown{LoadedAt: noon, Version: 3})
	for range 2 { // cached pages expire after five seconds
		s.clock.Advance(10 * time.Second)
		if r := s.get(t, "/program/timeline"); r.Header.Get("Cache-Control") != "public, s-maxage=1" {
			t.Errorf("emptied: %v", r.Header)
		}
	}
}

// TestRecovery checks that complete answers are served directly after an outage.
func TestRecovery(t *testing.T) {
	s := setup(t)
	pool, rundown := s.copies.Markets.Load(), s.copies.Rundown.Load()
	for i := range 3 {
		s.set(nil, nil)
		if r := s.get(t, "/program/channel?preset=hot"); i == 0 && r.Header.Get("X-Degraded") != "api" {
			t.Errorf("outage: %v", r.Header)
		}
		s.set(pool, rundown)
		if r := s.get(t, "/program/channel?preset=hot"); r.Header.Get("X-Degraded") != "" || !strings.Contains(string(body(t, r)), "701122") {
			t.Errorf("after outage %d: %v", i, r.Header)
		}
	}
}

func TestLimitPerAddress(t *testing.T) {
	s := setup(t)
	targets := []string{"/program/timeline", "/program/now", "/program/channel?preset=hot", "/nowhere"}
	for i := range 600 {
		if r := s.get(t, targets[i%len(targets)]); r.StatusCode == http.StatusTooManyRequests {
			t.Fatalf("request %d is rejected; the limit is 600", i+1)
		}
	}
	for _, target := range targets {
		r := s.get(t, target)
		var got struct {
			Error        string
			Limit        int
			RetryAfterMs int64
		}
		err := json.Unmarshal(body(t, r), &got)
		if r.StatusCode != 429 || got.Error != "rate_limited" || got.Limit != 600 || got.RetryAfterMs != 60000 || err != nil ||
			r.Header.Get("Retry-After") != "60" || target != "/nowhere" && r.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %+v %v", target, r.StatusCode, got, r.Header)
		}
	}
	if r := s.get(t, "/healthz"); r.StatusCode != 200 {
		t.Errorf("status %d of /healthz; want 200, because it has no limit", r.StatusCode)
	}
	s.clock.Advance(time.Minute)
	if r := s.get(t, "/program/now"); r.StatusCode != 200 {
		t.Errorf("a minute later: %d", r.StatusCode)
	}
}

// TestCredentials checks that all routes accept a valid credential without a change of the answer, and answer 401 to an invalid
// one, even if the answer is cached.
func TestCredentials(t *testing.T) {
	s := setup(t)
	for _, target := range []string{"/program/timeline", "/program/channel?preset=hot", "/program/channel?spec={}", "/program/now", "/program/next"} {
		for _, credential := range []string{"", "", "Bearer dk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "Bearer nonsense", "Basic YTpi", validKey} {
			var header []string
			if credential != "" {
				header = []string{"Authorization", credential}
			}
			r := s.get(t, target, header...)
			b := string(body(t, r))
			rejected := r.StatusCode == 401 && strings.Contains(b, `"unauthenticated"`) && r.Header.Get("WWW-Authenticate") == "Bearer" &&
				r.Header.Get("Cache-Control") == "no-store" && r.Header.Get("Access-Control-Allow-Origin") == "*"
			accepted := r.StatusCode == 200 && strings.HasPrefix(r.Header.Get("Cache-Control"), "private") == (credential != "")
			if valid := credential == "" || credential == validKey; valid && !accepted || !valid && !rejected {
				t.Errorf("%s with %q: %d %v %.80s", target, credential, r.StatusCode, r.Header, b)
			}
		}
	}
}

// validKey is the Authorization header with the only key that verify accepts.
var validKey = "Bearer dk_" + strings.Repeat("A", 43)

// verify implements reader.Verify in place of the api.
func verify(_ context.Context, c reader.Credential) (string, error) {
	if c.Hash != sha256.Sum256([]byte(strings.TrimPrefix(validKey, "Bearer "))) {
		return "", apperr.ErrCredentialUnknown
	}
	return "reader", nil
}

// TestCredentialSelectsTheLimit checks that requests with a valid credential count against its limit and not against that of the
// IP address.
func TestCredentialSelectsTheLimit(t *testing.T) {
	s := setup(t)
	for i := range PerCredential + 1 {
		want := 200
		if i == PerCredential {
			want = 429
		}
		if r := s.get(t, "/program/now", "Authorization", validKey); r.StatusCode != want {
			t.Fatalf("read %d with a key: %d, want %d", i+1, r.StatusCode, want)
		}
	}
	if r := s.get(t, "/program/now"); r.StatusCode != 200 || r.Header.Get("RateLimit") != `"addr";r=599;t=60` {
		t.Errorf("first anonymous read: %d, RateLimit %q; want 599 remaining requests", r.StatusCode, r.Header.Get("RateLimit"))
	}
}

// TestRoutesHaveEmptyValue checks that each programme route has an empty value, which is served while the data is unavailable.
func TestRoutesHaveEmptyValue(t *testing.T) {
	for _, rt := range setup(t).Table() {
		if strings.HasPrefix(rt.Path, "/program/") && rt.Empty == nil {
			t.Errorf("%s has no empty value", rt.Path)
		}
	}
}
