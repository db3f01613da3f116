package process

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestServicesStopInOrder sends SIGTERM to the hub, the api and the clock while they process requests. Each service
// must report that it is not ready before it closes its listeners. It must answer every accepted request, close its
// websockets with code 1001, and end within 10 s.
func TestServicesStopInOrder(t *testing.T) {
	s := system(t)
	held := stack.Size(t, 40, 200, 200)
	api := s.Side(t, "api", nil)
	hub := s.Side(t, "hub", map[string]string{"API_ADDR": api.GRPC})
	clock := s.Side(t, "clock", nil)
	d := &shutdown{s: s, hub: hub.URL, locked: s.NewNativeMarket(t, 5000, nil), operators: s.SeedOperators(t, 2*held), held: held}
	open := s.NewNativeMarket(t, 5000, nil)
	listeners := openListeners(t, api.URL, stack.Size(t, 48, 400, 400), stack.Size(t, 12, 100, 100))

	d.verifyKeys(t)
	d.stop(t, hub, true, "/api/m/"+open, "/api/m/"+open+"/crowd", "/api/signals/feed")
	hub.Start(t)
	d.verifyKeys(t)
	d.stop(t, api, true, "/api/v1/feed", "/api/v1/signals/leaderboard", "/api/v1/feed?after=1")
	listeners.requireGoingAway(t)
	d.stop(t, clock, false, "/program/now", "/program/next", "/program/timeline")

	if busy, requests := d.busy.Load(), d.requests.Load(); busy*10 > requests {
		t.Errorf("%d of %d requests were answered incompletely; want at most a tenth", busy, requests)
	}
	s.RequireStored(t, d.acknowledged)
	if len(d.acknowledged) == 0 {
		t.Error("no call was acknowledged")
	}
}

// shutdown stops services while requests are in progress.
type shutdown struct {
	s         *stack.Stack
	hub       string
	locked    string // id of the market that a transaction of the test locks
	operators []*stack.Operator
	held      int // number of calls in progress at each stop
	used      int // number of operators already used

	requests, busy atomic.Int64
	mu             sync.Mutex
	acknowledged   []stack.SentCall
}

// verifyKeys sends one request with each key, because the hub must ask the api about an unknown key before it files a call with
// the key.
func (d *shutdown) verifyKeys(t *testing.T) {
	t.Helper()
	stack.Each(d.held, 8, func(i int) {
		o := d.operators[d.used+i]
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			a, err := o.Try(t, http.MethodGet, d.hub+stack.ProtocolPath+"/me", stack.Bearer(o.Key))
			if err == nil && a.Status == http.StatusOK {
				return
			}
			if time.Now().After(end) {
				t.Errorf("for 10 s the requests with the key of %s failed; the last answer is %v (error %v), want 200", o.Handle, a, err)
				return
			}
		}
	})
}

// stop sends SIGTERM to a service while 200 requests per second arrive. If withCalls is true, some calls are waiting for a
// database lock. The requests continue for 200 ms after the service has reported that it is not ready, as the requests of a
// load balancer would.
func (d *shutdown) stop(t *testing.T, side *stack.Side, withCalls bool, paths ...string) {
	t.Helper()
	release := func() {}
	if withCalls {
		release = d.holdCalls(t)
	}
	requests, leave := context.WithCancel(t.Context())
	defer leave()
	var arriving sync.WaitGroup
	defer arriving.Wait()
	clients := []*stack.Client{stack.NewClient(), stack.NewClient(), stack.NewClient()}
	arriving.Go(func() {
		for i := 0; requests.Err() == nil; i++ {
			arriving.Go(func() {
				a, err := clients[i%len(clients)].Try(t, http.MethodGet, side.URL+paths[i%len(paths)])
				d.record(t, a, err)
			})
			time.Sleep(5 * time.Millisecond)
		}
	})
	stack.Wait(t, 100*time.Millisecond)
	began := time.Now()
	done := side.Terminate()
	if !reportsNotReady(side.URL) {
		t.Errorf("%s closed its listeners before it reported that it is not ready", side.URL)
	}
	stack.Wait(t, 200*time.Millisecond)
	leave()
	for _, addr := range []string{strings.TrimPrefix(side.URL, "http://"), side.GRPC} {
		if addr != "" && !refuses(addr, began.Add(3*time.Second)) {
			t.Errorf("%s still accepts connections 3 s after SIGTERM; want none", addr)
		}
	}
	release()
	select {
	case <-done:
		if err := side.Err(); err != nil {
			t.Errorf("after SIGTERM the service at %s ended with the error %v; want exit status 0\n%s", side.URL, err, side.Tail())
		}
	case <-time.After(time.Until(began.Add(exitWithin))):
		t.Errorf("%s has not ended %v after SIGTERM", side.URL, exitWithin)
	}
}

// record counts an answer. On a loaded machine, an answer may be incomplete or 503 because the database is too slow. record
// counts it as an answer, too.
func (d *shutdown) record(t *testing.T, a stack.Answer, err error) {
	d.requests.Add(1)
	switch {
	case err != nil:
		t.Errorf("a request was not answered: %v", err)
	case a.Status == http.StatusOK && a.Header.Get("X-Degraded") == "":
	case a.Status == http.StatusOK, a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		d.busy.Add(1)
	default:
		t.Errorf("a request was answered %v; want 200 or 503", a)
	}
}

// holdCalls locks a market and files calls on it, which then wait for the lock. release ends the lock and waits until all calls
// are answered.
func (d *shutdown) holdCalls(t *testing.T) (release func()) {
	t.Helper()
	tx, err := d.s.DB(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM api.markets WHERE market_id = $1 FOR UPDATE", d.locked); err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for i, o := range d.operators[d.used : d.used+d.held] {
		calls.Go(func() {
			c := stack.SentCall{Operator: o, Market: d.locked, Yes: i%2 == 0, Price: 5000}
			a, err := c.Send(t, d.hub)
			d.record(t, a, err)
			if err == nil && a.Status == http.StatusOK {
				c.ID = a.Text("id")
				d.mu.Lock()
				d.acknowledged = append(d.acknowledged, c)
				d.mu.Unlock()
			}
		})
	}
	d.used += d.held
	release = sync.OnceFunc(func() {
		_ = tx.Rollback(context.Background()) // the transaction has changed nothing
		calls.Wait()
	})
	t.Cleanup(release)
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'api_rw' AND wait_event_type = 'Lock'"
	stack.Eventually(t, 5*time.Second, "a call that waits for the lock on the market", func() bool { return stack.Query[int](t, d.s, waiting) > 0 })
	return release
}

var prober = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// status returns the HTTP status of the answer to a GET request, or 0 if there is no answer.
func status(url string) int {
	resp, err := prober.Get(url)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// reportsNotReady waits until /readyz is 503 or the listener is closed. It reports whether /readyz was 503 first.
func reportsNotReady(base string) bool {
	for {
		switch status(base + "/readyz") {
		case http.StatusServiceUnavailable:
			return true
		case 0:
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// refuses reports whether connections to an address are refused before the time end.
func refuses(addr string, end time.Time) bool {
	for time.Now().Before(end) {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return true
		}
		if err == nil {
			_ = conn.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}
