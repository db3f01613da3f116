package board

import (
	"context"
	"sync"
	"time"
)

// buildBudget ends a build that nobody waits for any more.
const buildBudget = 5 * time.Second

// flights are the builds that run, by board.
type flights struct {
	mu      sync.Mutex
	running map[string]*flight
}

type flight struct {
	done chan struct{}
	rows []Row
	err  error
}

// do joins the running build of a key, as long as ctx lasts, or runs it. The build
// goes on when its first caller leaves, because others may wait for it. The rows
// are shared: nobody writes them.
func (f *flights) do(ctx context.Context, key string, build func(context.Context) ([]Row, error)) ([]Row, error) {
	f.mu.Lock()
	b, joined := f.running[key]
	if !joined {
		b = &flight{done: make(chan struct{}), err: context.Canceled}
		f.running[key] = b
	}
	f.mu.Unlock()
	if joined {
		select {
		case <-b.done:
			return b.rows, b.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), buildBudget)
	defer cancel()
	// Deferred, so that a panic of the build leaves nobody waiting.
	defer func() {
		f.mu.Lock()
		delete(f.running, key)
		f.mu.Unlock()
		close(b.done)
	}()
	b.rows, b.err = build(ctx)
	return b.rows, b.err
}
