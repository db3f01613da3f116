package rows

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/kv"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// d4 lets one key shout beside calm ones, and then brings bearers that nobody has.
var d4 = frame.Row{
	ID: "D4", Title: "limits are private and cheap",
	Fault: frame.Fault{What: "a key is counted before anybody knows whether there is one"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		const calm = 20
		ops, err := pool(ctx, env, "d4", calm+1, 1)
		if err != nil {
			return nil, err
		}
		n := noise{env: env, seen: seen, loud: ops[calm].Keys[0], calm: ops[:calm]}
		if n.market, err = markets(ctx, env, "D4", 1); err != nil {
			return nil, err
		}
		n.shout(ctx, time.Duration(env.Of(1, 6, 30))*time.Second)
		bearers := env.Of(300, 20_000, 1_000_000)
		if err := n.strangers(ctx, bearers); err != nil {
			return nil, err
		}
		seen.Promise("calm refused 0, limiter memory ≤ 64 MB, keys in Redis 0",
			fmt.Sprintf("%d of %d, %d MB, %d", n.refused.Load(), n.calls.Load(), n.grown>>20, n.keys))
		seen.Volume("%s calls of one key, %s bearers that nobody has", frame.Number(int(n.shouts.Load())), frame.Number(bearers))
		return seen, nil
	},
}

// noise is one loud key, some calm ones, and strangers.
type noise struct {
	env    *frame.Env
	seen   *frame.Seen
	market []string
	loud   client.Key
	calm   []client.Operator

	shouts, let    atomic.Int64 // of the loud key: calls, and those that were let in
	calls, refused atomic.Int64 // of the calm ones
	times          frame.Times
	grown          int64 // bytes, of the hub that grew most
	keys           int   // new ones in Redis
}

// calmEvery is how often a calm key calls: half of what it may.
const calmEvery = 2 * time.Second

// shout lets the loud key call a thousand times a second beside the calm ones.
func (n *noise) shout(ctx context.Context, lasting time.Duration) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, op := range n.calm {
		wg.Go(func() {
			for k := range 1 + int(lasting/calmEvery) {
				a := n.env.Client.File(ctx, n.env.Hub(i+k), op.Keys[0], client.Call{Market: n.market[0], Yes: true, Price: 5000})
				n.calls.Add(1)
				n.times.Add(a.Took())
				if a.Status != http.StatusOK && a.Status != http.StatusConflict {
					n.refused.Add(1)
					n.seen.Wrong("a calm key was answered %s", a)
				}
				if wait(ctx, time.Now().Add(calmEvery)) != nil {
					return
				}
			}
		})
	}
	steady(ctx, 1000, lasting, func(i int) {
		a := n.env.Client.File(ctx, n.env.Hub(i), n.loud, client.Call{Market: n.market[0], Yes: true, Price: 5000})
		n.shouts.Add(1)
		switch a.Status {
		case http.StatusOK, http.StatusConflict:
			n.let.Add(1)
		case http.StatusTooManyRequests:
		default:
			n.seen.Wrong("the loud key was answered %s", a)
		}
	})
	wg.Wait()
	n.seen.Check(n.let.Load() <= keyLimit && n.let.Load() >= keyLimit/2, "%d calls of the loud key were let in", n.let.Load())
	n.seen.Figure("calmP99", n.times.At(.99))
}

// strangers bring bearers of every form that nobody was given.
func (n *noise) strangers(ctx context.Context, bearers int) error {
	store, err := kv.Open(kv.Config{URL: n.env.Stack.RedisURL, Timeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	before, err := namesIn(ctx, store)
	if err != nil {
		return err
	}
	memory := func() (all []int64, err error) {
		for _, name := range []string{"hub", "hub-2"} {
			held, err := stack.RSS(n.env.Stack.PID(name))
			if err != nil {
				return nil, err
			}
			all = append(all, held)
		}
		return all, nil
	}
	was, err := memory()
	if err != nil {
		return err
	}
	r := n.env.Rand("D4")
	names := make([]string, bearers)
	for i := range names {
		names[i] = stranger(r, i)
	}
	var busy atomic.Int64
	frame.Each(bearers, 16, func(i int) {
		a := n.env.Client.Do(ctx, client.Request{URL: protocol(n.env, i) + "/me", As: client.Key(names[i])})
		if a.Status == http.StatusServiceUnavailable { // nobody is let in while the ledger is slow
			busy.Add(1)
			return
		}
		n.seen.Check(a.Status == http.StatusUnauthorized, "the bearer %s was answered %s", names[i], a)
	})
	n.seen.Figure("busy", busy.Load())
	n.seen.Check(busy.Load() <= int64(bearers/100), "%d of %d bearers could not be judged", busy.Load(), bearers)
	held, err := memory()
	if err != nil {
		return err
	}
	for i := range held {
		n.grown = max(n.grown, held[i]-was[i])
	}
	n.seen.Check(n.grown <= 64<<20, "a hub has grown by %d MB", n.grown>>20)
	after, err := namesIn(ctx, store)
	if err != nil {
		return err
	}
	for name := range after {
		if !before[name] {
			n.keys++
			n.seen.Wrong("there is a new key in Redis: %s", name)
		}
	}
	return nil
}

// stranger is a bearer in the form of a key, of an old key or of an app's token.
func stranger(r *rand.Rand, i int) string {
	raw := make([]byte, 32)
	for k := range raw {
		raw[k] = byte(r.Uint32())
	}
	return []string{"dk_", "dk_", "db_live_", "dat_"}[i%4] + base64.RawURLEncoding.EncodeToString(raw)
}

// namesIn are the keys that Redis holds.
func namesIn(ctx context.Context, store *kv.Client) (map[string]bool, error) {
	names := map[string]bool{}
	list := store.Scan(ctx, 0, "*", 1000).Iterator()
	for list.Next(ctx) {
		names[list.Val()] = true
	}
	return names, list.Err()
}
