package rows

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/kv"
	"github.com/signalcast/signalcast/pkg/limit"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// keyLimit is how many requests a key has in any minute.
const keyLimit = 60

// d1 sends a thousand requests of one key to two hubs at once. The edge of the
// window is tried on the limiter itself, with a clock that is set by hand.
var d1 = frame.Row{
	ID: "D1", Title: "exactly 60 per key in any 60 s, over all hubs",
	Fault: frame.Fault{What: "the second hub counts for itself", Plant: func(ctx context.Context, env *frame.Env) error {
		settings, err := url.Parse(env.Stack.RedisURL)
		if err != nil {
			return err
		}
		settings.Path = "/1"
		return replaceHubs(ctx, env, []map[string]string{{}, {"REDIS_URL": settings.String()}})
	}},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n := env.Of(1, 3, 10)
		if slices.Equal(env.Hubs, env.Stack.AllHubs()) { // else the fault has put others there
			fresh, stop, err := freshHubs(ctx, env)
			if err != nil {
				return nil, err
			}
			defer stop()
			env = fresh
		}
		ops, err := pool(ctx, env, "d1", n, 1)
		if err != nil {
			return nil, err
		}
		ids, err := markets(ctx, env, "D1", 1)
		if err != nil {
			return nil, err
		}
		var taken []int
		for _, op := range ops {
			got, other := burst(ctx, op.Keys[0], ids[0], 1000, byRoute(env))
			seen.Check(got == keyLimit, "%d of 1,000 were taken", got)
			seen.Check(other == "", "a request was answered %s", other)
			taken = append(taken, got)
		}
		edge, err := atTheEdge(ctx, env, seen)
		if err != nil {
			return nil, err
		}
		seen.Promise("60 of 1,000, and 60 at the edge", fmt.Sprintf("%s of 1,000, and %d at the edge", words(taken), edge))
		seen.Volume("%s requests", frame.Number(n*1000))
		return seen, nil
	},
}

func words(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// replaceHubs puts hubs with other settings in the place of those of the system.
// They end with this process.
func replaceHubs(ctx context.Context, env *frame.Env, changed []map[string]string) error {
	var hubs []string
	for _, settings := range changed {
		side, err := env.Stack.Side(ctx, "hub", settings)
		if err != nil {
			return err
		}
		hubs = append(hubs, side.URL)
	}
	env.Hubs = hubs
	return nil
}

// burst sends n requests of one key at once, half to each hub, and counts those
// that the limit let through; other is an answer that is no answer of a limit.
func burst(ctx context.Context, key client.Key, market string, n int, file filing) (taken int, other string) {
	var mu sync.Mutex
	frame.AtOnce(n, func(i int) {
		a := file(ctx, i, key, client.Call{Market: market, Yes: true, Price: 5000})
		mu.Lock()
		defer mu.Unlock()
		switch {
		case a.Status == 200 || a.Status == 409:
			taken++
		case a.Status != 429:
			other = a.String()
		}
	})
	return taken, other
}

// atTheEdge plays two hubs whose calls lie around the edge of a window, and gives
// the most calls that any window took. Redis has a clock of its own, so its log is
// moved back by what the hand-set clock is moved on.
func atTheEdge(ctx context.Context, env *frame.Env, seen *frame.Seen) (most int, err error) {
	store, err := kv.Open(kv.Config{URL: env.Stack.RedisURL, Timeout: 5 * time.Second})
	if err != nil {
		return 0, err
	}
	defer func() { _ = store.Close() }()
	e := edge{store: store, log: kv.Key("limit", "prove", fmt.Sprint(time.Now().UnixNano()))}
	cfg := limit.Config{Name: "prove", Limit: keyLimit, Window: time.Minute, Replicas: 2, Now: e.now}
	e.hubs = []*limit.Limiter{limit.New(store, cfg), limit.New(store, cfg)}
	e.key = strings.TrimPrefix(e.log, kv.Key("limit", "prove")+":")
	var at []time.Duration
	var got []int
	later := time.Duration(0)
	for _, step := range []struct {
		later      time.Duration
		calls, fit int
	}{{0, 1, 1}, {58 * time.Second, 100, 59}, {3 * time.Second, 100, 1}, {54 * time.Second, 100, 0}, {5 * time.Second, 100, 59}} {
		later += step.later
		if err := e.advance(ctx, step.later); err != nil {
			return 0, err
		}
		n := e.fire(ctx, step.calls)
		seen.Check(n == step.fit, "after %v %d of %d were taken, not %d", later, n, step.calls, step.fit)
		at, got = append(at, later), append(got, n)
	}
	return mostWithin(time.Minute, at, got), nil
}

// mostWithin is the most calls in any window of that length.
func mostWithin(window time.Duration, at []time.Duration, got []int) (most int) {
	for i := range at {
		sum := 0
		for k := i; k < len(at) && at[k] < at[i]+window; k++ {
			sum += got[k]
		}
		most = max(most, sum)
	}
	return most
}

// edge is a clock that is set by hand over a real Redis.
type edge struct {
	store *kv.Client
	log   string // the limiter's key in Redis
	key   string
	hubs  []*limit.Limiter
	ahead atomic.Int64
}

func (e *edge) now() time.Time { return time.Now().Add(time.Duration(e.ahead.Load())) }

func (e *edge) advance(ctx context.Context, d time.Duration) error {
	e.ahead.Add(int64(d))
	calls, err := e.store.ZRangeWithScores(ctx, e.log, 0, -1).Result()
	if err != nil || len(calls) == 0 {
		return err
	}
	for i := range calls {
		calls[i].Score -= float64(d.Microseconds())
	}
	return e.store.ZAdd(ctx, e.log, calls...).Err()
}

func (e *edge) fire(ctx context.Context, n int) int {
	var taken atomic.Int64
	frame.AtOnce(n, func(i int) {
		if e.hubs[i%2].Allow(ctx, e.key).Allowed {
			taken.Add(1)
		}
	})
	return int(taken.Load())
}
