package rows

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// f2 restarts two hubs behind a balancer, one after the other, again and again. Half of
// the requests are calls. The same requests at a hub that nobody restarts show what the
// machine itself does to them.
var f2 = frame.Row{
	ID: "F2", Title: "a rolling restart of both hubs fails nobody",
	Fault: frame.Fault{What: "a hub closes its doors before it says so", Env: map[string]string{"DRAIN_WAIT": "0s"}},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		r := &rolling{env: env, seen: seen, restarts: env.Of(3, 10, 10)}
		lasting := time.Duration(env.Of(6, 30, 30)) * time.Second
		if err := r.prepare(ctx); err != nil {
			return nil, err
		}
		defer r.close()
		var load sync.WaitGroup
		load.Go(func() { steady(ctx, 200, lasting, func(i int) { r.send(ctx, i, r.front.URL, &r.through) }) })
		load.Go(func() { steady(ctx, 50, lasting, func(i int) { r.send(ctx, i, env.Hub(0), &r.control) }) })
		err := r.roll(ctx, lasting)
		load.Wait()
		if err != nil {
			return nil, err
		}
		lost, err := missing(ctx, env, r.markets, r.acked)
		if err != nil {
			return nil, err
		}
		all, cut, busy := r.through.sent.Load(), r.through.cut.Load(), r.through.busy.Load()
		seen.Figure("cut", cut)
		seen.Figure("busy", busy)
		seen.Figure("busyAtRest", r.control.busy.Load())
		seen.Figure("slowestRestart", r.took.At(1))
		seen.Figure("p99", r.through.times.At(.99))
		noise := generous * r.control.busy.Load() * all / max(1, r.control.sent.Load())
		seen.Check(cut == 0, "%d of %d requests had no answer of a hub, the last: %v", cut, all, r.through.last.Load())
		seen.Check(busy <= noise, "%d of %d requests were not answered in full, and %d of %d at a hub that nobody restarted",
			busy, all, r.control.busy.Load(), r.control.sent.Load())
		seen.Check(lost == 0, "%d acknowledged calls of %d are lost", lost, len(r.acked))
		seen.Promise(fmt.Sprintf("failed 0 of %s", frame.Number(int(all))), fmt.Sprintf("failed %d of %s", cut+busy, frame.Number(int(all))))
		seen.Volume("%d restarts in %v under 200 a second, %s calls taken", r.restarts, lasting, frame.Number(len(r.acked)))
		return seen, nil
	},
}

// rolling are two hubs behind a balancer.
type rolling struct {
	env      *frame.Env
	seen     *frame.Seen
	restarts int
	hubs     []*stack.Side
	front    *balancer
	markets  []string
	ops      []client.Operator
	next     atomic.Int64 // pair of operator and market

	through, control traffic
	took             frame.Times

	mu    sync.Mutex
	acked []frame.Write
}

// traffic is what came of requests.
type traffic struct {
	sent  atomic.Int64
	cut   atomic.Int64 // no answer of a hub, but of the balancer or none
	busy  atomic.Int64 // refused, or not answered in full
	times frame.Times
	last  atomic.Value // the last answer that was none
}

func (r *rolling) prepare(ctx context.Context) (err error) {
	if r.markets, err = markets(ctx, r.env, "F2", 20); err != nil {
		return err
	}
	if r.ops, err = pool(ctx, r.env, "f2", r.env.Of(100, 300, 300), 1); err != nil {
		return err
	}
	var bases []string
	for range 2 {
		// Its peer is the balancer, which tells whom it asks for.
		hub, err := r.env.Stack.Side(ctx, "hub", map[string]string{"TRUSTED_PROXIES": "127.0.0.1/32"})
		if err != nil {
			r.close()
			return err
		}
		r.hubs, bases = append(r.hubs, hub), append(bases, hub.URL)
	}
	if r.front, err = newBalancer(bases...); err != nil {
		r.close()
		return err
	}
	if err = r.inTurn(ctx); err != nil {
		r.close()
	}
	return err
}

func (r *rolling) close() {
	if r.front != nil {
		r.front.close()
	}
	for _, hub := range r.hubs {
		hub.Stop()
	}
}

// inTurn waits until the balancer uses all its servers.
func (r *rolling) inTurn(ctx context.Context) error {
	all, err := frame.Until(ctx, 10*time.Second, func() (bool, error) {
		for _, s := range r.front.servers {
			if !s.ready.Load() {
				return false, nil
			}
		}
		return true, nil
	})
	if err == nil && !all {
		err = fmt.Errorf("a hub that has started is not ready")
	}
	return err
}

// roll restarts the hubs in turn, spread over the time.
func (r *rolling) roll(ctx context.Context, lasting time.Duration) error {
	began := time.Now()
	for i := range r.restarts {
		if err := wait(ctx, began.Add(time.Duration(2*i+1)*lasting/time.Duration(2*r.restarts))); err != nil {
			return err
		}
		hub, at := r.hubs[i%len(r.hubs)], time.Now()
		select {
		case <-hub.End():
		case <-time.After(exitWithin):
			return fmt.Errorf("a hub has not ended after %v", exitWithin)
		}
		r.seen.Check(hub.Err() == nil, "a hub ended with %v: %s", hub.Err(), lastLine(hub.Tail()))
		if err := hub.Start(ctx); err != nil {
			return err
		}
		r.took.Add(time.Since(at))
		if err := r.inTurn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// send makes one request: a call, or one of the reads.
func (r *rolling) send(ctx context.Context, i int, at string, h *traffic) {
	var a client.Answer
	if i%2 == 0 {
		a = r.call(ctx, at)
	} else {
		a = r.env.Client.Do(ctx, client.Request{URL: at + []string{
			"/api/signals/feed", "/api/m/" + r.markets[i%len(r.markets)], "/api/operator/leaderboard",
		}[i/2%3]})
	}
	h.sent.Add(1)
	h.times.Add(a.Took())
	switch {
	case a.Err != nil || a.Status == http.StatusBadGateway:
		h.cut.Add(1)
		h.last.Store(a.String())
	case a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "":
		h.busy.Add(1)
		r.seen.Figure("lastBusy", a.String())
	}
}

// call files a call that nobody has filed.
func (r *rolling) call(ctx context.Context, at string) client.Answer {
	n := int(r.next.Add(1)) - 1
	op, market := r.ops[n%len(r.ops)], r.markets[n/len(r.ops)%len(r.markets)]
	w := frame.Write{Market: market, User: op.ID, Yes: n%2 == 0, Price: 5000}
	a := r.env.Client.File(ctx, at, op.Keys[0], client.Call{Market: w.Market, Yes: w.Yes, Price: w.Price})
	if a.Status == http.StatusOK {
		w.ID = a.Text("id")
		r.mu.Lock()
		r.acked = append(r.acked, w)
		r.mu.Unlock()
	}
	return a
}
