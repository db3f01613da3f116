package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// d3 takes Redis away from under the limits in every way and gives it back.
var d3 = frame.Row{
	ID: "D3", Title: "Redis down: the limit is bounded, not open, not closed",
	Fault: frame.Fault{
		What: "each hub takes itself for the only one", Plant: func(ctx context.Context, env *frame.Env) error {
			return replaceHubs(ctx, env, []map[string]string{{"REPLICAS": "1"}, {"REPLICAS": "1"}})
		},
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n := env.Of(1, 3, 10)
		ops, err := pool(ctx, env, "d3", 4*n, 1)
		if err != nil {
			return nil, err
		}
		ids, err := markets(ctx, env, "D3", 1)
		if err != nil {
			return nil, err
		}
		o := outage{env: env, seen: seen, market: ids[0], total: map[client.Key]int{}}
		for _, op := range ops {
			o.keys = append(o.keys, op.Keys[0])
		}
		if err := o.run(ctx, n); err != nil {
			return nil, err
		}
		steady, across := 0, 0
		for i, key := range o.keys {
			if i < 2*n { // it was known when the switch came
				across = max(across, o.total[key])
				continue
			}
			steady = max(steady, o.total[key])
		}
		seen.Check(steady <= keyLimit, "%d calls of a key that came while Redis was away", steady)
		seen.Check(across <= 2*keyLimit, "%d calls of a key across the switch", across)
		seen.Promise("steady ≤ 60, across the switch ≤ 120, 5xx 0", fmt.Sprintf("steady %d, across %d, 5xx %d", steady, across, o.failed))
		seen.Volume("%s calls", frame.Number(o.calls))
		return seen, nil
	},
}

// outage is a number of keys under a Redis that comes and goes, all within the
// window of their limit.
type outage struct {
	env    *frame.Env
	seen   *frame.Seen
	market string
	keys   []client.Key
	total  map[client.Key]int
	calls  int
	failed int
}

func (o *outage) run(ctx context.Context, n int) error {
	began := time.Now()
	spent, half, hung, gone := o.keys[:n], o.keys[n:2*n], o.keys[2*n:3*n], o.keys[3*n:]
	o.spend(ctx, 400, spent...)
	o.spend(ctx, 20, half...)
	resume, err := o.env.Stack.Hang("redis")
	if err != nil {
		return err
	}
	o.spend(ctx, 400, spent...)
	o.spend(ctx, 400, half...)
	o.spend(ctx, 400, hung...)
	for _, key := range hung {
		o.seen.Check(o.total[key] >= keyLimit/2, "a hung Redis shuts the door: %d calls of a new key", o.total[key])
	}
	resume()
	up, err := o.env.Stack.Down("redis")
	if err != nil {
		return err
	}
	o.spend(ctx, 400, gone...)
	o.spend(ctx, 400, half...)
	for _, key := range gone {
		o.seen.Check(o.total[key] >= keyLimit/2, "a dead Redis shuts the door: %d calls of a new key", o.total[key])
	}
	if err := up(ctx); err != nil {
		return err
	}
	if err := o.counted(ctx); err != nil {
		return err
	}
	o.spend(ctx, 400, o.keys...) // Redis is back, and empty
	took := time.Since(began)
	o.seen.Figure("within", took)
	if took > 55*time.Second {
		return fmt.Errorf("the machine is too busy: it took %v", took)
	}
	return nil
}

// spend sends calls of each key, half to each hub at once.
func (o *outage) spend(ctx context.Context, n int, keys ...client.Key) {
	for _, key := range keys {
		taken, other := burst(ctx, key, o.market, n, byRoute(o.env))
		o.total[key] += taken
		o.calls += n
		if other != "" {
			o.failed++
			o.seen.Wrong("a call was answered %s", other)
		}
	}
}

// counted waits until both hubs have found Redis again.
func (o *outage) counted(ctx context.Context) error {
	ops, err := pool(ctx, o.env, "d3_probe", len(o.env.Hubs), 1)
	if err != nil {
		return err
	}
	for i, op := range ops {
		for began := time.Now(); time.Since(began) < 1500*time.Millisecond; {
			a := o.env.Client.File(ctx, o.env.Hub(i), op.Keys[0], client.Call{Market: o.market, Yes: true, Price: 5000})
			if a.Err != nil || a.Status >= 500 {
				return fmt.Errorf("a probe was answered %s", a)
			}
			if err := wait(ctx, time.Now().Add(100*time.Millisecond)); err != nil {
				return err
			}
		}
	}
	return nil
}
