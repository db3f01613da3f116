package postgres

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Sizes of the filing queue. A batch is whatever waits, never more than
// maxBatch; a full queue refuses at once so that waiting stays bounded.
const (
	maxBatch    = 128
	queueLength = 4096
	filers      = 2
	batchBudget = 5 * time.Second
)

// filing is one waiting call. done is closed once its answer stands.
type filing struct {
	patient bool // waits for a market that somebody holds
	caller  signal.Caller
	draft   signal.Draft
	answer  signal.Filing
	err     error
	done    chan struct{}
	left    atomic.Bool // nobody waits for the answer
}

func newFiling(c signal.Call) *filing {
	return &filing{caller: c.Caller, draft: c.Draft, done: make(chan struct{})}
}

// wait gives the answer. A caller that leaves while its call is being written
// leaves it in doubt, which a repeat of the same draft settles; a call that only
// waits is not written any more.
func (f *filing) wait(ctx context.Context) (signal.Filing, error) {
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
		f.left.Store(true)
		return signal.Filing{}, ctx.Err()
	}
}

// writer writes a batch and gives the members that are answered; the others have
// been handed on. Where it fails, nothing of the batch is written or all of it is in
// doubt, which a second try settles.
type writer func(ctx context.Context, batch []*filing) (answered []*filing, err error)

// coalescer joins waiting filings into one statement, without a timer: a worker
// takes what waits and commits it once, so a lone filing never waits. A second
// worker comes when more waits than one statement takes.
type coalescer struct {
	write writer

	mu      sync.Mutex
	waiting []*filing
	workers int
	closed  bool
	wg      sync.WaitGroup
}

func newCoalescer(write writer) *coalescer {
	return &coalescer{write: write}
}

// add puts filings into the queue together, as many as it takes, and gives
// their number. Those behind it are refused.
func (c *coalescer) add(batch ...*filing) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(batch), queueLength-len(c.waiting))
	if c.closed || n == 0 {
		return 0
	}
	c.waiting = append(c.waiting, batch[:n]...)
	if c.workers == 0 || c.workers < filers && len(c.waiting) > maxBatch {
		c.workers++
		c.wg.Go(c.work)
	}
	return n
}

// length is the number of filings that wait.
func (c *coalescer) length() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// close answers what waits and ends the workers.
func (c *coalescer) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wg.Wait()
}

// work writes until nothing waits.
func (c *coalescer) work() {
	for {
		batch := c.take()
		if batch == nil {
			return
		}
		c.write.flush(batch)
	}
}

// take takes what waits and is still waited for; a worker that finds nothing is
// no more.
func (c *coalescer) take() []*filing {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) > 0 {
		n := min(len(c.waiting), maxBatch)
		batch := slices.DeleteFunc(c.waiting[:n:n], func(f *filing) bool { return f.left.Load() })
		c.waiting = c.waiting[n:]
		if len(batch) > 0 {
			return batch
		}
	}
	c.waiting = nil
	c.workers--
	return nil
}

// flush writes a batch; when it fails as a whole its members are written one
// by one, so that one bad row fails alone. A second try of a filing that had
// committed is a replay, because its draft id is the same. A batch that used up its
// time is not tried again: whoever still waits does that with more time.
func (w writer) flush(batch []*filing) {
	rest := split(batch)
	first := batch[:len(batch)-len(rest)]
	ctx, cancel := context.WithTimeout(context.Background(), batchBudget)
	answered, err := w(ctx, first)
	late := ctx.Err() != nil
	cancel()
	switch {
	case err == nil:
		finish(answered)
	case late:
		fail(batch, err)
		return
	default:
		rest = batch
	}
	ctx, cancel = context.WithTimeout(context.Background(), batchBudget)
	defer cancel()
	for _, f := range rest {
		answered, err := w(ctx, []*filing{f})
		if err != nil {
			fail([]*filing{f}, err)
			continue
		}
		finish(answered)
	}
}

// split moves repeats of a draft id to the end and returns them: one statement
// must not hold the same draft twice.
func split(batch []*filing) []*filing {
	if len(batch) == 1 {
		return nil
	}
	seen := make(map[string]bool, len(batch))
	var first, again []*filing
	for _, f := range batch {
		if seen[f.draft.ID] {
			again = append(again, f)
			continue
		}
		seen[f.draft.ID] = true
		first = append(first, f)
	}
	if again == nil {
		return nil
	}
	copy(batch, append(first, again...))
	return batch[len(first):]
}

func finish(batch []*filing) {
	for _, f := range batch {
		close(f.done)
	}
}

func fail(batch []*filing, err error) {
	for _, f := range batch {
		f.err = err
		close(f.done)
	}
}
