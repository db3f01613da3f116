package rows

import (
	"context"
	"sync"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// keyLimit is the number of requests that a key has in any minute.
const keyLimit = 60

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

// freshHubs are two further hubs, whose limits have no past: for a minute after
// Redis was away a hub counts its own share alone, and says so. A busy machine may
// take longer to answer than Redis has by default.
func freshHubs(ctx context.Context, env *frame.Env) (fresh *frame.Env, stop func(), err error) {
	own := *env
	own.Hubs = nil
	var sides []*stack.Side
	stop = func() {
		for _, s := range sides {
			s.Stop()
		}
	}
	for range 2 {
		s, err := env.Stack.Side(ctx, "hub", map[string]string{"REDIS_TIMEOUT": "2s"})
		if err != nil {
			stop()
			return nil, nil, err
		}
		sides, own.Hubs = append(sides, s), append(own.Hubs, s.URL)
	}
	return &own, stop, nil
}
