package postgres

import (
	"context"
	"sync"
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
	caller signal.Caller
	draft  signal.Draft
	answer signal.Filing
	err    error
	done   chan struct{}
}

// coalescer joins waiting filings into one statement, without a timer: a
// worker takes what waits and commits it once, so a lone filing never waits.
type coalescer struct {
	queue chan *filing
	write func(ctx context.Context, batch []*filing) error
	wg    sync.WaitGroup
	stop  chan struct{}
}

func newCoalescer(write func(ctx context.Context, batch []*filing) error) *coalescer {
	c := &coalescer{queue: make(chan *filing, queueLength), write: write, stop: make(chan struct{})}
	for range filers {
		c.wg.Go(c.work)
	}
	return c
}

// file waits for the answer; a caller that leaves early leaves its call in
// doubt, which a repeat of the same draft settles.
func (c *coalescer) file(ctx context.Context, caller signal.Caller, draft signal.Draft) (signal.Filing, error) {
	f := &filing{caller: caller, draft: draft, done: make(chan struct{})}
	select {
	case <-c.stop:
		return signal.Filing{}, signal.ErrBusy
	default:
	}
	select {
	case c.queue <- f:
	default:
		return signal.Filing{}, signal.ErrBusy
	}
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
		return signal.Filing{}, ctx.Err()
	}
}

// close answers what waits and ends the workers.
func (c *coalescer) close() {
	close(c.stop)
	c.wg.Wait()
}

func (c *coalescer) work() {
	for {
		select {
		case f := <-c.queue:
			c.flush(c.take(f))
		case <-c.stop:
			for {
				select {
				case f := <-c.queue:
					c.flush(c.take(f))
				default:
					return
				}
			}
		}
	}
}

func (c *coalescer) take(first *filing) []*filing {
	batch := make([]*filing, 1, 16)
	batch[0] = first
	for len(batch) < maxBatch {
		select {
		case f := <-c.queue:
			batch = append(batch, f)
		default:
			return batch
		}
	}
	return batch
}

// flush writes a batch; when it fails as a whole its members are written one
// by one, so that one bad row fails alone. A second try of a filing that had
// committed is a replay, because its draft id is the same.
func (c *coalescer) flush(batch []*filing) {
	ctx, cancel := context.WithTimeout(context.Background(), batchBudget)
	defer cancel()
	rest := split(batch)
	if err := c.write(ctx, batch[:len(batch)-len(rest)]); err != nil {
		rest = batch
	} else {
		finish(batch[:len(batch)-len(rest)])
	}
	for _, f := range rest {
		f.err = c.write(ctx, []*filing{f})
		close(f.done)
	}
}

// split moves repeats of a draft id to the end and returns them: one statement
// must not hold the same draft twice.
func split(batch []*filing) []*filing {
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
