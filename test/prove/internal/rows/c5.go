package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// c5 reads and writes while every process of Postgres stands still, and sees how
// soon all is as before once they go on.
var c5 = frame.Row{
	ID: "C5", Title: "a hung Postgres frees its callers on time",
	Fault: frame.Fault{What: "a read waits for Postgres without a bound"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		const most, soon = 400 * time.Millisecond, time.Second
		seen := frame.NewSeen()
		c, err := gather(ctx, env, "C5", "c5-reader")
		if err != nil {
			return nil, err
		}
		list := freshReads(env, c)
		if why := normal(ctx, env, list); why != "" {
			return nil, fmt.Errorf("before the fault: %s", why)
		}
		resume, err := env.Stack.Hang("postgres")
		if err != nil {
			return nil, err
		}
		times := &frame.Times{}
		lasting := time.Duration(env.Of(2, 5, 5)) * time.Second
		steady(ctx, 40, lasting, func(i int) {
			a := env.Client.Do(ctx, list[i%len(list)])
			seen.Check(a.Status == 200 || a.Status == 503, "a read was answered %s", a)
			seen.Check(a.Took() <= generous*most, "%s took %v", list[i%len(list)].URL, a.Took())
			times.Add(a.Took())
		})
		resume()
		resumed := time.Now()
		why := ""
		well, err := frame.Until(ctx, 15*time.Second, func() (bool, error) {
			why = normal(ctx, env, list)
			return why == "", nil
		})
		if err != nil {
			return nil, err
		}
		back := time.Since(resumed)
		seen.Figure("p99", times.At(.99))
		seen.Figure("worst", times.At(1))
		seen.Figure("back", back)
		seen.Check(well && back <= generous*soon, "not back to normal after %v: %s", back, why)
		seen.Promise("answered ≤ 400 ms, normal ≤ 1 s", fmt.Sprintf("answered ≤ %d ms (p99 %d), normal after %d ms",
			times.At(1).Milliseconds(), times.At(.99).Milliseconds(), back.Milliseconds()))
		seen.Volume("%s reads in %v", frame.Number(times.Len()), lasting)
		return seen, nil
	},
}

// freshReads are reads that ask the database each time, and some that are kept.
func freshReads(env *frame.Env, c cast) []client.Request {
	var list []client.Request
	for i, path := range []string{
		"/api/m/" + c.market + "/crowd", "/api/m/" + c.market + "/signals", "/api/signals/" + c.signal,
		"/api/signals/" + c.signal + "/events", "/api/resolution/outcome?market=" + c.market, "/api/resolution/markets",
		"/api/m/" + c.market, "/api/signals/feed", "/api/operator/leaderboard",
	} {
		list = append(list, client.Request{URL: env.Hub(i) + path}, client.Request{URL: env.Hub(i+1) + path})
	}
	return append(list, client.Request{URL: env.Stack.API + "/api/v1/feed"},
		client.Request{URL: env.Stack.API + "/api/v1/signals/leaderboard"},
		client.Request{URL: env.Hub(0) + "/api/m/" + c.market + "/crowd", As: c.session})
}

// normal tells what is not as it should be; empty: nothing.
func normal(ctx context.Context, env *frame.Env, list []client.Request) string {
	for _, r := range list {
		a := env.Client.Do(ctx, r)
		if a.Status != 200 || a.Header.Get("X-Degraded") != "" {
			return fmt.Sprintf("%s: %s (degraded %q)", r.URL, a, a.Header.Get("X-Degraded"))
		}
	}
	return ""
}
