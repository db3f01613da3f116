package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// generous is how far a speed may lie above its promise before it counts as
// broken: the machine of a check is not the machine of the promise.
const generous = 5

// c4 reads at a steady rate while Redis answers nothing. Half of the reads carry
// a session, whose limit is counted in Redis.
var c4 = frame.Row{
	ID: "C4", Title: "a hung Redis costs one wait, not one for each request",
	Fault: frame.Fault{What: "a question to Redis may take three seconds", Env: map[string]string{"REDIS_TIMEOUT": "3s"}},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		lasting := time.Duration(env.Of(3, 6, 10)) * time.Second
		mix, err := newReadMix(ctx, env, "C4", "c4", 20)
		if err != nil {
			return nil, err
		}
		const rate = 200
		before := mix.run(ctx, seen, rate, 2*time.Second)
		resume, err := env.Stack.Hang("redis")
		if err != nil {
			return nil, err
		}
		during := mix.run(ctx, seen, rate, lasting)
		resume()
		base, p50, p99, worst := before.At(.5), during.At(.5), during.At(.99), during.At(1)
		slow := during.Above(45*time.Millisecond + base)
		seen.Figure("medianBefore", base)
		seen.Figure("medianHung", p50)
		seen.Figure("p99Before", before.At(.99))
		seen.Figure("p99Hung", p99)
		seen.Figure("worstHung", worst)
		seen.Figure("waitedForRedis", slow)
		const most = 80 * time.Millisecond
		// What the machine adds by itself shows in the run before.
		seen.Check(p99 <= generous*(most+before.At(.99)), "p99 is %v", p99)
		seen.Check(p50 <= generous*(time.Millisecond+base), "the median is %v, and %v with Redis", p50, base)
		seen.Promise("p99 ≤ 80 ms", fmt.Sprintf("p99 %d ms (%d before), median %.1f ms (%.1f before), %d of %d waited",
			p99.Milliseconds(), before.At(.99).Milliseconds(), ms(p50), ms(base), slow, during.Len()))
		seen.Volume("%s reads in %v", frame.Number(during.Len()), lasting)
		return seen, nil
	},
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// readMix are the reads that pass limits and caches.
type readMix struct {
	env      *frame.Env
	sessions []client.Session
	market   string
}

func newReadMix(ctx context.Context, env *frame.Env, row, name string, sessions int) (*readMix, error) {
	r := &readMix{env: env, sessions: make([]client.Session, sessions)}
	errs := make([]error, sessions)
	frame.Each(sessions, 4, func(i int) {
		p, err := signUp(ctx, env, fmt.Sprintf("%s-reader-%d", name, i), 0)
		r.sessions[i], errs[i] = p.session, err
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	ids, err := markets(ctx, env, row, 1)
	if err != nil {
		return nil, err
	}
	r.market = ids[0]
	return r, nil
}

// run reads at a rate; every answer must be good.
func (r *readMix) run(ctx context.Context, seen *frame.Seen, perSecond int, lasting time.Duration) *frame.Times {
	times := &frame.Times{}
	steady(ctx, perSecond, lasting, func(i int) {
		a := r.env.Client.Do(ctx, r.request(i))
		seen.Check(a.Status == 200, "a read was answered %s", a)
		times.Add(a.Took())
	})
	return times
}

func (r *readMix) request(i int) client.Request {
	hub := r.env.Hub(i / 2)
	switch i % 8 {
	case 1:
		return client.Request{URL: hub + "/api/signals/feed"}
	case 3:
		return client.Request{URL: hub + "/api/m/" + r.market}
	case 5:
		return client.Request{URL: r.env.Stack.API + "/api/v1/feed"}
	case 7:
		return client.Request{URL: hub + "/api/operator/leaderboard"}
	}
	return client.Request{URL: hub + "/api/m/" + r.market + "/crowd", As: r.sessions[i/2%len(r.sessions)]}
}
