package rows

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/grpcproxy"
)

// c7 lets many readers come at the moment in which nothing is kept: of a page
// that was never built, of one whose time has run out, and of a market that no
// venue was asked for yet. What the hubs ask of the ledger is counted between
// them, what the ledger asks of the venue before the venue.
var c7 = frame.Row{
	ID: "C7", Title: "no stampede", Limit: time.Minute,
	Fault: frame.Fault{What: "each reader has a page built of its own"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		c, err := newCrowdOf(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		defer c.close()
		worst, moments := 0, 0
		for _, path := range []string{"/api/signals/feed?limit=%d", "/api/operator/leaderboard?limit=%d"} {
			for i := range env.Of(1, 2, 10) {
				at := fmt.Sprintf(path, 7+i)
				worst = max(worst, c.rush(ctx, "a page never built", at))
				// Three seconds on, not even an old copy may be shown.
				if err := wait(ctx, time.Now().Add(3200*time.Millisecond)); err != nil {
					return nil, err
				}
				worst = max(worst, c.rush(ctx, "a page run out", at))
				moments += 2
			}
		}
		for i := range env.Of(0, 2, 10) {
			n, err := c.stranger(ctx, i)
			if err != nil {
				return nil, err
			}
			worst, moments = max(worst, n), moments+1
		}
		seen.Figure("readerP99", c.times.At(.99))
		seen.Figure("shed", c.shed.Load())
		seen.Promise("upstream calls ≤ 2", fmt.Sprintf("at most %d", worst))
		seen.Volume("%d moments, %s readers each on 2 hubs", moments, frame.Number(c.readers))
		return seen, nil
	},
}

// crowdOf are many readers of two hubs.
type crowdOf struct {
	env     *frame.Env
	seen    *frame.Seen
	front   *front
	tap     *grpcproxy.Tap
	sides   []*stack.Side // the ledger, then the hubs
	readers int
	times   frame.Times
	shed    atomic.Int64 // readers of a market that the ledger had no time for
}

func newCrowdOf(ctx context.Context, env *frame.Env, seen *frame.Seen) (*crowdOf, error) {
	c := &crowdOf{env: env, seen: seen, readers: env.Of(200, 1000, 1000)}
	err := func() (err error) {
		if c.front, err = newFront(env.Stack.Venues, ""); err != nil {
			return err
		}
		ledger, err := apartLedger(ctx, env, c.front.addr)
		if err != nil {
			return err
		}
		c.sides = append(c.sides, ledger)
		if c.tap, err = grpcproxy.New(ledger.GRPC); err != nil {
			return err
		}
		for range 2 {
			hub, err := apartHub(ctx, env, c.tap.Addr)
			if err != nil {
				return err
			}
			c.sides = append(c.sides, hub)
		}
		return nil
	}()
	if err != nil {
		c.close()
	}
	return c, err
}

func (c *crowdOf) close() {
	for i := len(c.sides) - 1; i >= 0; i-- {
		c.sides[i].Stop()
	}
	if c.tap != nil {
		c.tap.Close()
	}
	if c.front != nil {
		c.front.close()
	}
}

// read lets all readers ask at once and gives the time that it took. What is not
// kept is read from the ledger by each of them, which may be too many.
func (c *crowdOf) read(ctx context.Context, path string, kept bool) time.Duration {
	began := time.Now()
	frame.AtOnce(c.readers, func(i int) {
		a := c.env.Client.Do(ctx, client.Request{URL: c.sides[1+i%2].URL + path})
		if !kept && a.Status == http.StatusServiceUnavailable {
			c.shed.Add(1)
			return
		}
		c.seen.Check(a.Status == http.StatusOK && a.Header.Get("X-Degraded") == "", "%s was answered %s", path, a)
		c.times.Add(a.Took())
	})
	return time.Since(began)
}

// rush counts the calls to the ledger that one moment costs, by the method that
// was called most. Where the readers take longer than a page lives, there is more
// than one moment.
func (c *crowdOf) rush(ctx context.Context, what, path string) (worst int) {
	const life = time.Second
	before := c.tap.Calls()
	took := c.read(ctx, path, true)
	moments := 1 + int(took/life)
	for method, n := range c.tap.Calls() {
		if method == "/grpc.health.v1.Health/Check" {
			continue
		}
		calls := n - before[method]
		worst = max(worst, (calls+moments-1)/moments)
		c.seen.Check(calls <= 2*moments, "%s: %s cost %d calls of %s in %v", what, path, calls, method, took.Round(time.Millisecond))
	}
	c.seen.Check(worst > 0, "%s: %s cost nothing", what, path)
	return worst
}

// stranger counts what a market that nobody has read costs its venue.
func (c *crowdOf) stranger(ctx context.Context, i int) (int, error) {
	provider := providers[i%len(providers)]
	id, err := venueMarket(ctx, c.env, provider, fmt.Sprintf("Will reader %d of row C7 wait?", i))
	if err != nil {
		return 0, err
	}
	key := id
	for _, prefix := range []string{"kalshi-", "lmt-", "manifold-"} {
		if len(id) > len(prefix) && id[:len(prefix)] == prefix {
			key = id[len(prefix):]
		}
	}
	before := c.front.count(key)
	c.read(ctx, "/api/m/"+id, false)
	n := c.front.count(key) - before
	c.seen.Check(n > 0 && n <= 2, "a market that nobody has read cost %s %d requests", provider, n)
	return n, nil
}
