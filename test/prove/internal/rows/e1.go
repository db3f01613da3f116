package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// e1 opens ten thousand sockets, half of which follow all calls and half one market,
// and files calls on that market: each of them must hear of each call, once.
var e1 = frame.Row{
	ID: "E1", Title: "ten thousand connections to one process", Limit: 3 * time.Minute,
	Fault: frame.Fault{What: "a channel is joined twice"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		host, err := startFeedHost(ctx, env, nil)
		if err != nil {
			return nil, err
		}
		defer host.over(env)
		fits, err := room(host.PID())
		if err != nil {
			return nil, err
		}
		c := stadium{env: env, seen: seen, host: host, n: min(env.Of(400, 10_000, 10_000), fits), calls: env.Of(2, 10, 40)}
		if c.n < 100 {
			return nil, fmt.Errorf("the limit of open files leaves room for %d connections", c.n)
		}
		if err := c.gather(ctx); err != nil {
			return nil, err
		}
		defer leave(c.conns)
		if err := c.speak(ctx); err != nil {
			return nil, err
		}
		c.verdict()
		return seen, nil
	},
}

const (
	connectWithin  = 10 * time.Second
	residentEach   = 64 << 10
	everybodyAfter = 500 * time.Millisecond
)

// stadium are many listeners.
type stadium struct {
	env      *frame.Env
	seen     *frame.Seen
	host     *feedHost
	n, calls int

	market  string
	ops     []client.Operator
	conns   []*wsclient.Conn
	ears    *hearing
	connect time.Duration
	each    int64 // bytes
	heard   *outcome
}

// gather opens the sockets, and lets them listen.
func (c *stadium) gather(ctx context.Context) error {
	list, err := markets(ctx, c.env, "E1", 1)
	if err != nil {
		return err
	}
	c.market = list[0]
	if c.ops, err = pool(ctx, c.env, "e1", c.calls, 1); err != nil {
		return err
	}
	before, err := c.host.rss()
	if err != nil {
		return err
	}
	began := time.Now()
	if c.conns, err = c.host.opened(ctx, c.n, 64); err != nil {
		return err
	}
	c.connect = time.Since(began)
	if c.ears, err = listening(ctx, c.env, c.n, 10*c.calls+100); err != nil {
		return err
	}
	for i, conn := range c.conns {
		if err := conn.Hear(func(text []byte) { c.ears.note(i, text) }); err != nil {
			return err
		}
		channel := []string{"signals", "market:" + c.market}[i%2]
		if err := conn.Say(`{"op":"subscribe","channels":["` + channel + `"]}`); err != nil {
			return err
		}
	}
	if _, err := frame.Until(ctx, generous*connectWithin, func() (bool, error) { return c.ears.acked.Load() >= int64(c.n), nil }); err != nil {
		return err
	}
	c.seen.Figure("connect", c.connect)
	c.seen.Figure("listening", time.Since(began))
	if err := wait(ctx, time.Now().Add(time.Second)); err != nil { // the snapshots are being sent
		return err
	}
	after, err := c.host.rss()
	c.each = (after - before) / int64(c.n)
	c.seen.Figure("residentMB", after>>20)
	c.seen.Figure("bytesEach", c.each)
	return err
}

// speak files calls one after the other; each is waited for.
func (c *stadium) speak(ctx context.Context) error {
	for i, op := range c.ops {
		if err := c.ears.call(ctx, c.env, i, op, c.market); err != nil {
			return err
		}
		if err := c.ears.told(ctx, c.n, time.Duration(c.env.Of(2, 20, 20))*time.Second); err != nil {
			return err
		}
	}
	var err error
	c.heard, err = c.ears.heard(ctx, c.env, upTo(c.n), 0)
	return err
}

func (c *stadium) verdict() {
	all := together(c.heard.each)
	p99s := &frame.Times{}
	for _, t := range c.heard.each {
		p99s.Add(t.At(.99))
	}
	p99, best := p99s.At(.5), p99s.At(0)
	c.ears.faults(c.seen)
	got, want := c.heard.wanted-c.heard.lost, c.n*c.calls
	c.seen.Check(int(c.ears.acked.Load()) == c.n, "%d of %d sockets listen", c.ears.acked.Load(), c.n)
	c.seen.Check(got == want, "%d of %d deliveries came", got, want)
	c.seen.Figure("withoutSnapshot", c.ears.blind.Load())
	c.seen.Figure("p50", all.At(.5))
	c.seen.Figure("p99", all.At(.99))
	c.seen.Figure("p99OfTheUsualCall", p99)
	c.seen.Figure("p99OfTheBestCall", best)
	c.seen.Figure("slowest", all.At(1))
	// Both sides share this machine with all else that runs on it: one call of ten may
	// meet a moment at which none of them runs.
	c.seen.Check(c.connect <= generous*connectWithin, "connecting took %v", c.connect)
	// With few of them it is the process that shows.
	c.seen.Check(c.each <= residentEach || c.n < 2000, "%d bytes for each connection", c.each)
	c.seen.Check(p99 <= generous*everybodyAfter, "p99 of the usual call is %v", p99)
	c.seen.Promise("each once, connected ≤ 10 s, ≤ 64 kB each, p99 ≤ 500 ms", fmt.Sprintf("%s of %s, %.1f s, %d kB, p99 %d ms (best %d)",
		frame.Number(got), frame.Number(want), c.connect.Seconds(), c.each>>10, p99.Milliseconds(), best.Milliseconds()))
	less := ""
	if c.n < 10_000 && c.env.Size != frame.Small {
		less = " (no more open files are allowed)"
	}
	c.seen.Volume("%s connections%s, %d calls", frame.Number(c.n), less, c.calls)
}
