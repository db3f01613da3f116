package process

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestRollingRestartFailsNoRequest restarts two hubs behind a load balancer, one after the other. Half of the requests are
// calls. Every request must be answered, and every acknowledged call must be stored. The test sends the same requests to a hub
// that it does not restart. This shows how many answers are incomplete only because the machine is slow.
func TestRollingRestartFailsNoRequest(t *testing.T) {
	s := system(t)
	restarts, d := stack.Size(t, 3, 5, 10), time.Duration(stack.Size(t, 6, 15, 30))*time.Second
	r := &traffic{operators: s.SeedOperators(t, stack.Size(t, 100, 300, 300))}
	for range 20 {
		r.markets = append(r.markets, s.NewNativeMarket(t, 5000, nil))
	}
	var hubs []*stack.Side
	for range 2 { // the hubs see the address of the balancer, which forwards the address of the client
		hubs = append(hubs, s.Side(t, "hub", map[string]string{"TRUSTED_PROXIES": "127.0.0.1/32"}))
	}
	b := stack.NewBalancer(t, hubs...)
	b.RequireAllReady(t)

	var balanced, control counts
	var load sync.WaitGroup
	load.Go(func() { stack.Steady(t, 200, d, func(i int) { r.send(t, i, b.URL, &balanced) }) })
	load.Go(func() { stack.Steady(t, 50, d, func(i int) { r.send(t, i, s.Hub, &control) }) })
	began := time.Now()
	for i := range restarts {
		stack.Wait(t, time.Until(began.Add(time.Duration(2*i+1)*d/time.Duration(2*restarts))))
		hub := hubs[i%len(hubs)]
		select {
		case <-hub.Terminate():
		case <-time.After(exitWithin):
			t.Fatalf("a hub has not ended %v after SIGTERM", exitWithin)
		}
		if hub.Err() != nil {
			t.Errorf("after SIGTERM a hub ended with the error %v; want exit status 0\n%s", hub.Err(), hub.Tail())
		}
		hub.Start(t)
		b.RequireAllReady(t)
	}
	load.Wait()

	sent, failed, busy := balanced.sent.Load(), balanced.failed.Load(), balanced.busy.Load()
	if failed > 0 {
		t.Errorf("%d of %d requests were not answered by a hub; want 0", failed, sent)
	}
	// The control hub gets fewer requests, so one incomplete answer more is tolerated there.
	if most := (machineFactor*control.busy.Load() + 1) * sent / max(1, control.sent.Load()); busy > most {
		t.Errorf("%d of %d requests were answered incompletely, and %d of %d at a hub that was not restarted",
			busy, sent, control.busy.Load(), control.sent.Load())
	}
	s.RequireStored(t, r.acknowledged)
	t.Logf("%d requests during %d restarts, %d calls acknowledged", sent, restarts, len(r.acknowledged))
}

// traffic sends calls and read requests.
type traffic struct {
	operators []*stack.Operator
	markets   []string
	next      atomic.Int64 // index of the next pair of operator and market

	mu           sync.Mutex
	acknowledged []stack.SentCall
}

// counts are the numbers of requests by outcome.
type counts struct{ sent, failed, busy atomic.Int64 }

func (r *traffic) send(t *testing.T, i int, base string, c *counts) {
	var a stack.Answer
	var err error
	if i%2 == 0 {
		a, err = r.call(t, base)
	} else {
		path := []string{"/api/signals/feed", "/api/m/" + r.markets[i%len(r.markets)], "/api/operator/leaderboard"}[i/2%3]
		a, err = r.operators[i%len(r.operators)].Try(t, http.MethodGet, base+path)
	}
	c.sent.Add(1)
	switch {
	case err != nil || a.Status == http.StatusBadGateway:
		if c.failed.Add(1) < 5 {
			t.Logf("a request was not answered by a hub: %v (error %v)", a, err)
		}
	case a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "":
		c.busy.Add(1)
	}
}

func (r *traffic) call(t *testing.T, base string) (stack.Answer, error) {
	n := int(r.next.Add(1)) - 1
	c := stack.SentCall{
		Operator: r.operators[n%len(r.operators)], Market: r.markets[n/len(r.operators)%len(r.markets)], Yes: n%2 == 0, Price: 5000,
	}
	a, err := c.Send(t, base)
	if err == nil && a.Status == http.StatusOK {
		c.ID = a.Text("id")
		r.mu.Lock()
		r.acknowledged = append(r.acknowledged, c)
		r.mu.Unlock()
	}
	return a, err
}
