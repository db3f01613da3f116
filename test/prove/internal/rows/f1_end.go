package rows

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

const (
	// callersAtEnds keep calling until they hear that a service is not ready.
	callersAtEnds = 100
	// knocks is how many requests a second come to a service that stops.
	knocks = 200
	// goesOn is how long they still come after it has said that it is not ready.
	goesOn = 200 * time.Millisecond
	// heldAtMost keeps the calls that wait within the time that a request has.
	heldAtMost = 3 * time.Second
	// exitWithin is the promise.
	exitWithin = 10 * time.Second
)

// farewell ends services and keeps what everybody heard.
type farewell struct {
	env       *frame.Env
	seen      *frame.Seen
	hub       string
	api       *stack.Side
	clock     *stack.Side
	markets   []string // the first is the one that is held
	ops       []client.Operator
	listeners listeners
	held      int // calls that are under way at each end
	used      int // of ops

	requests, resets, busy atomic.Int64

	exits  frame.Times
	notice time.Duration // shortest time between "not ready" and the closed doors

	mu    sync.Mutex
	acked []frame.Write
}

// end tells a service to stop and sees how it does.
func (f *farewell) end(ctx context.Context, name string, side *stack.Side, request func(int) client.Request, held bool, more ...string) error {
	release := func() {}
	if held {
		var err error
		if release, err = f.hold(ctx); err != nil {
			return err
		}
		defer release()
	}
	coming, leave := context.WithCancel(ctx)
	defer leave()
	var readers sync.WaitGroup
	defer readers.Wait()
	readers.Go(func() { steady(coming, knocks, exitWithin, func(i int) { f.knock(ctx, name, request(i)) }) })
	if err := wait(ctx, time.Now().Add(100*time.Millisecond)); err != nil {
		return err
	}
	told := time.Now()
	done := side.End()
	d := gates{base: side.URL, more: more}
	notReady := d.notReady(ctx)
	f.seen.Check(!notReady.IsZero(), "the %s closed its doors before it said that it was not ready", name)
	if err := wait(ctx, time.Now().Add(goesOn)); err != nil {
		return err
	}
	leave()
	shut, closed := d.shut(ctx, told.Add(heldAtMost))
	f.seen.Check(closed, "the %s still lets everybody in %v after it was told to stop", name, heldAtMost)
	if !notReady.IsZero() {
		notice := shut.Sub(notReady)
		if f.notice == 0 || notice < f.notice {
			f.notice = notice
		}
		f.seen.Figure(name+"Notice", notice)
	}
	release()
	select {
	case <-done:
		f.exits.Add(time.Since(told))
		f.seen.Figure(name+"Exit", time.Since(told))
		f.seen.Check(side.Err() == nil, "the %s ended with %v: %s", name, side.Err(), lastLine(side.Tail()))
	case <-time.After(time.Until(told.Add(exitWithin))):
		f.exits.Add(exitWithin)
		f.seen.Wrong("the %s has not ended after %v", name, exitWithin)
	}
	return nil
}

// knock sends one request, which must be answered well.
func (f *farewell) knock(ctx context.Context, name string, r client.Request) {
	a := f.env.Client.Do(ctx, r)
	f.requests.Add(1)
	f.answered(name, a)
}

// answered judges an answer. A machine that is busy with other things may be too slow
// for a question to the database; that was said, and not cut off.
func (f *farewell) answered(name string, a client.Answer) {
	switch {
	case a.Err != nil:
		f.resets.Add(1)
	case a.Status == http.StatusOK && a.Header.Get("X-Degraded") == "":
		return
	case a.Status == http.StatusOK, a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		f.busy.Add(1)
		return
	}
	f.seen.Wrong("while the %s stopped, a request was answered %s", name, a)
}

// hold locks a market and files calls on it, which wait. Release lets them go on,
// and returns when all are answered.
func (f *farewell) hold(ctx context.Context) (release func(), err error) {
	tx, err := f.env.DB.Begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, "SELECT 1 FROM api.markets WHERE market_id = $1 FOR UPDATE", f.markets[0]); err != nil {
		return nil, errors.Join(err, tx.Rollback(ctx))
	}
	ops := f.ops[f.used : f.used+f.held]
	f.used += f.held
	var calls sync.WaitGroup
	for i, op := range ops {
		calls.Go(func() {
			w := frame.Write{Market: f.markets[0], User: op.ID, Yes: i%2 == 0, Price: 5000}
			a := f.env.Client.File(ctx, f.hub, op.Keys[0], client.Call{Market: w.Market, Yes: w.Yes, Price: w.Price})
			f.requests.Add(1)
			f.answered("service", a)
			if a.Status == http.StatusOK {
				w.ID = a.Text("id")
				f.mu.Lock()
				f.acked = append(f.acked, w)
				f.mu.Unlock()
			}
		})
	}
	release = sync.OnceFunc(func() {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // it wrote nothing
		calls.Wait()
	})
	waits, err := frame.Until(ctx, 5*time.Second, func() (bool, error) {
		n, err := f.env.Count(ctx, `SELECT count(*) FROM pg_stat_activity WHERE usename = 'api_rw' AND wait_event_type = 'Lock'`)
		return n > 0, err
	})
	if err == nil && !waits {
		err = errors.New("no call waits for the market that is held")
	}
	if err != nil {
		release()
	}
	return release, err
}

// gates are the listeners of one process, looked at from outside.
type gates struct {
	base string
	more []string // further addresses
}

var doorClient = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// notReady is when the process first said so; zero: its doors were shut before.
func (d gates) notReady(ctx context.Context) time.Time {
	for ctx.Err() == nil {
		r, err := doorClient.Get(d.base + "/readyz")
		if err != nil {
			return time.Time{}
		}
		_ = r.Body.Close()
		if r.StatusCode == http.StatusServiceUnavailable {
			return time.Now()
		}
		_ = wait(ctx, time.Now().Add(5*time.Millisecond))
	}
	return time.Time{}
}

// shut is when nobody was let in any more; closed is false when that did not come.
func (d gates) shut(ctx context.Context, end time.Time) (at time.Time, closed bool) {
	closed = true
	for _, addr := range append([]string{strings.TrimPrefix(d.base, "http://")}, d.more...) {
		for closed {
			c, err := net.DialTimeout("tcp", addr, time.Second)
			if errors.Is(err, syscall.ECONNREFUSED) {
				break
			}
			if err == nil {
				_ = c.Close()
			}
			closed = wait(ctx, time.Now().Add(20*time.Millisecond)) == nil && time.Now().Before(end)
		}
	}
	return time.Now(), closed
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return fmt.Sprintf("%.200s", lines[len(lines)-1])
}
