package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/wsclient"
)

// e7 comes and goes in every way there is, and then looks whether anything of it is left
// with the process: sockets, goroutines, open files, memory.
var e7 = frame.Row{
	ID: "E7", Title: "nothing leaks", Limit: 2 * time.Minute,
	Fault: frame.Fault{What: "who brings a subscriber up to date waits for more when the socket has ended"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		// Few connections to the database, so that all of them are there from the start.
		host, err := startFeedHost(ctx, env, map[string]string{"GOGC": tidy["GOGC"], "DB_MAX_CONNS": "8"})
		if err != nil {
			return nil, err
		}
		defer host.over(env)
		g := guests{env: env, seen: seen, host: host}
		if err := g.prepare(ctx); err != nil {
			return nil, err
		}
		before, err := g.start(ctx)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		cycles := env.Of(200, 10_000, 100_000)
		if err := g.cycles(ctx, cycles); err != nil {
			return nil, err
		}
		took := time.Since(began)
		after, err := g.settled(ctx, before)
		if err != nil {
			return nil, err
		}
		more := 100 * (float64(after.resident())/float64(before.resident()) - 1)
		seen.Check(after.sockets() == 0, "%d sockets are left", after.sockets())
		seen.Check(near(after.goroutines(), before.goroutines()), "%d goroutines, and %d before", after.goroutines(), before.goroutines())
		seen.Check(near(after.files(), before.files()), "%d open files, and %d before", after.files(), before.files())
		seen.Check(more <= 10, "%d kB of memory, and %d before", after.resident()>>10, before.resident()>>10)
		seen.Figure("cyclesASecond", int(float64(cycles)/took.Seconds()))
		seen.Figure("residentBefore", before.resident())
		seen.Figure("residentAfter", after.resident())
		seen.Promise("goroutines ±5, open files ±5, memory within 10 %", fmt.Sprintf("%+d, %+d, %+.1f %%",
			after.goroutines()-before.goroutines(), after.files()-before.files(), more))
		seen.Volume("%s connections of %d kinds", frame.Number(cycles), len(g.kinds()))
		return seen, nil
	},
}

func near(a, b int) bool { return a-b <= 5 && b-a <= 5 }

// guests come and go.
type guests struct {
	env    *frame.Env
	seen   *frame.Seen
	host   *feedHost
	ops    []client.Operator
	market string
	next   atomic.Int64
}

func (g *guests) prepare(ctx context.Context) (err error) {
	if g.ops, err = pool(ctx, g.env, "e7", g.env.Of(20, 80, 400), 1); err != nil {
		return err
	}
	list, err := markets(ctx, g.env, "E7", 1)
	if err != nil {
		return err
	}
	g.market = list[0]
	for i := range 10 { // something to be told of again
		a := g.env.Client.File(ctx, g.env.Hub(i), g.ops[i].Keys[0], client.Call{Market: g.market, Yes: true, Price: 5000})
		if a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable {
			return fmt.Errorf("file a call: %s", a)
		}
	}
	return nil
}

// start lets guests come and go until the process has grown to what it needs, and takes
// down what it holds then.
func (g *guests) start(ctx context.Context) (gauges, error) {
	once := func() error { return g.cycles(ctx, g.env.Of(100, 1200, 1200)) }
	if g.env.Size == frame.Small { // what leaks does so from the first on
		if err := once(); err != nil {
			return nil, err
		}
		return g.host.gauges(ctx)
	}
	return g.host.season(ctx, 8, 0, once)
}

// settled waits until the process holds what it held, or does not come back to it.
func (g *guests) settled(ctx context.Context, before gauges) (now gauges, err error) {
	_, err = frame.Until(ctx, time.Duration(g.env.Of(2, 20, 20))*time.Second, func() (bool, error) {
		now, err = g.host.gauges(ctx)
		return err == nil && now.sockets() == 0 && near(now.goroutines(), before.goroutines()) && near(now.files(), before.files()) &&
			float64(now.resident()) <= 1.1*float64(before.resident()), err
	})
	return now, err
}

// cycles lets so many guests come and go, some at a time.
func (g *guests) cycles(ctx context.Context, n int) error {
	kinds := g.kinds()
	var failed atomic.Pointer[error]
	frame.Each(n, 32, func(int) {
		i := int(g.next.Add(1))
		if err := kinds[i%len(kinds)](ctx, i); err != nil {
			err = fmt.Errorf("guest %d of kind %d: %w", i, i%len(kinds), err)
			failed.CompareAndSwap(nil, &err)
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// home is one of some addresses, which are remembered from the start.
func (g *guests) home(i int) net.IP { return g.host.homes.at(i % g.env.Of(50, 100, 500)) }

// kinds are the ways to come and go.
func (g *guests) kinds() []func(ctx context.Context, i int) error {
	all := `{"op":"subscribe","channels":["signals","market:` + g.market + `","wire"]}`
	open := func(then func(c *wsclient.Conn) error, lines ...string) func(context.Context, int) error {
		return func(ctx context.Context, i int) error {
			c, err := g.host.dial.Open(ctx, g.home(i), lines...)
			if err != nil {
				return err
			}
			defer c.Close()
			return then(c)
		}
	}
	stream := func(path string, then func(c *wsclient.Conn) error) func(context.Context, int) error {
		return func(ctx context.Context, i int) error {
			c, err := g.host.dial.Stream(ctx, g.home(i), path)
			if err != nil {
				return err
			}
			defer c.Close()
			return then(c)
		}
	}
	ends := func(code int, last []byte) func(c *wsclient.Conn) error {
		return func(c *wsclient.Conn) error {
			if err := c.Send(last); err != nil {
				return err
			}
			e, _, err := c.End(20 * time.Second)
			if err == nil && e.Code != code {
				err = e
			}
			return err
		}
	}
	reset := func(c *wsclient.Conn) error { c.Reset(); return nil }
	leave := func(*wsclient.Conn) error { return nil }
	return []func(context.Context, int) error{
		open(ends(1000, wsclient.Frame(wsclient.Bye, true, []byte("\x03\xe8")))),
		open(leave),
		open(reset),
		open(func(c *wsclient.Conn) error { return asked(c, all, `"channel":"wire"`) }),
		open(func(c *wsclient.Conn) error { // in the midst of being told what it missed
			err := c.Say(`{"op":"subscribe","channels":["signals"],"since":{"signals":0}}`)
			c.Reset()
			return err
		}),
		open(func(c *wsclient.Conn) error { return c.Send(wsclient.Head(0x81, 5000)) }), // in the midst of a frame
		open(ends(1003, wsclient.Frame(wsclient.Binary, true, nil))),
		open(func(c *wsclient.Conn) error { return c.HalfClose() }),
		stream("/api/v1/feed/stream?channels=signals,market:"+g.market, leave),
		stream("/api/v1/feed/stream?channels=signals,wire&since=0", reset),
		g.keyed,
		g.refused,
		g.abandoned,
	}
}

// keyed comes with a key, and reads its own channel.
func (g *guests) keyed(ctx context.Context, i int) error {
	key := g.ops[i/13%len(g.ops)].Keys[0]
	c, err := g.host.dial.Open(ctx, g.home(i), "Authorization: Bearer "+string(key))
	var no *wsclient.Refusal
	if errors.As(err, &no) && (no.Status == http.StatusTooManyRequests || no.Status == http.StatusServiceUnavailable) {
		return nil // five are enough, and a busy database is none of this row's
	}
	if err != nil {
		return err
	}
	defer c.Close()
	return asked(c, `{"op":"subscribe","channels":["me"]}`, `{"op":"ack"`)
}

// refused is not let in.
func (g *guests) refused(ctx context.Context, i int) error {
	_, err := g.host.dial.Open(ctx, g.home(i), "Authorization: Bearer nobody")
	var no *wsclient.Refusal
	if !errors.As(err, &no) || no.Status != http.StatusUnauthorized {
		return fmt.Errorf("nobody is let in: %w", err)
	}
	return nil
}

// abandoned is gone before its request is.
func (g *guests) abandoned(ctx context.Context, i int) error {
	conn, err := g.host.dial.Connect(ctx, g.home(i))
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte("GET /ws HTTP/1.1\r\nHost: x\r\nConnec"))
	_ = conn.SetLinger(0)
	return errors.Join(err, conn.Close())
}

// asked says something and waits for the answer.
func asked(c *wsclient.Conn, say, answer string) error {
	if err := c.Say(say); err != nil {
		return err
	}
	for end := time.Now().Add(20 * time.Second); ; {
		_, text, err := c.Next(time.Until(end))
		if err != nil || bytes.Contains(text, []byte(answer)) {
			return err
		}
	}
}
