package outage

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/grpcproxy"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestManyReadersCostFewReads sends 1,000 concurrent reads through two hubs, in three cases: a list that is not cached, a list
// whose cache entry has expired, and a market that no venue was asked for. In each case, the hubs may send at most two calls of
// each method to the api, one per hub. The api may send at most two requests to the venue.
func TestManyReadersCostFewReads(t *testing.T) {
	s := system(t)
	c := newProxiedHubs(t, s)
	for _, path := range []string{"/api/signals/feed?limit=%d", "/api/operator/leaderboard?limit=%d"} {
		for i := range stack.Size(t, 1, 2, 10) {
			path := fmt.Sprintf(path, 7+i)
			t.Run(path, func(t *testing.T) {
				c.requireFewCalls(t, path)
				stack.Wait(t, 3200*time.Millisecond) // longer than even a stale cache entry may be used
				c.requireFewCalls(t, path)
			})
		}
	}
	for i := range stack.Size(t, 1, 2, 10) {
		venue := stack.Venues[i%len(stack.Venues)]
		t.Run("market of "+venue, func(t *testing.T) { c.requireFewRequests(t, venue) })
	}
}

// proxiedHubs are two hubs with one api. Proxies count the calls between the hubs and the api and the requests from the
// api to the venues.
type proxiedHubs struct {
	s      *stack.Stack
	venues *stack.VenueProxy
	calls  *grpcproxy.Tap
	hubs   []string
	crowd  *stack.Crowd
}

func newProxiedHubs(t *testing.T, s *stack.Stack) *proxiedHubs {
	t.Helper()
	c := &proxiedHubs{s: s, venues: s.NewVenueProxy(t, ""), crowd: stack.NewCrowd(100)}
	api := s.Side(t, "api", s.Rerouted(t, "api", map[string]string{strings.TrimPrefix(s.Venues, "http://"): c.venues.Addr}))
	var err error
	if c.calls, err = grpcproxy.New(api.GRPC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.calls.Close)
	for range 2 {
		c.hubs = append(c.hubs, s.Side(t, "hub", map[string]string{"API_ADDR": c.calls.Addr}).URL)
	}
	return c
}

// read sends the requests of all readers concurrently and returns the time until all are answered. Answers with status 503 are
// allowed only if mayShed is true.
func (c *proxiedHubs) read(t *testing.T, path string, mayShed bool) time.Duration {
	t.Helper()
	began := time.Now()
	var wrong atomic.Int64
	stack.AtOnce(stack.Size(t, 200, 1000, 1000), func(i int) {
		a, err := c.crowd.Try(t, http.MethodGet, c.hubs[i%2]+path)
		if err == nil && mayShed && a.Status == http.StatusServiceUnavailable {
			return
		}
		if (err != nil || a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "") && wrong.Add(1) < 5 {
			t.Errorf("%s was answered %v (error %v); want 200 without X-Degraded", path, a, err)
		}
	})
	return time.Since(began)
}

// requireFewCalls fails the test if the readers of a list cause more than two calls of one gRPC method. It allows more calls if
// the reads take longer than the time for which an answer is fresh.
func (c *proxiedHubs) requireFewCalls(t *testing.T, path string) {
	t.Helper()
	const fresh = time.Second
	before := c.calls.Calls()
	took := c.read(t, path, false)
	allowed, total := 2*(1+int(took/fresh)), 0
	for method, n := range c.calls.Calls() {
		if method == "/grpc.health.v1.Health/Check" {
			continue
		}
		total += n - before[method]
		if n-before[method] > allowed {
			t.Errorf("the readers of %s caused %d calls of %s in %v; want at most %d", path, n-before[method], method, took, allowed)
		}
	}
	if total == 0 {
		t.Errorf("the readers of %s caused no call of the api; want at least one", path)
	}
}

// requireFewRequests fails the test if the readers of a new market cause more than two requests to its venue. Each reader
// causes a read in the api, which may refuse some of them because of overload.
func (c *proxiedHubs) requireFewRequests(t *testing.T, venue string) {
	t.Helper()
	id := c.s.NewVenueMarket(t, venue, 0.41, nil).ID
	atVenue := id
	for _, prefix := range []string{"kalshi-", "lmt-", "manifold-"} {
		atVenue = strings.TrimPrefix(atVenue, prefix)
	}
	c.read(t, "/api/m/"+id, true)
	if n := c.venues.Requests(atVenue); n < 1 || n > 2 {
		t.Errorf("the readers of a new market caused %[2]d requests to %[1]s; want 1 or 2", venue, n)
	}
}
