package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Limits of the two queues of calls, and the timeout of one write. One queue has calls that are not yet tried, the other has
// calls on locked markets.
const (
	maxBatch    = 128
	queueLength = 4096
	writers     = 2 // largest number of concurrent statements that write calls
	lockWaiters = 4 // largest number of locked markets for which statements wait concurrently
	batchBudget = 5 * time.Second
)

// filing is one call in a queue. done is closed after answer or err is set.
type filing struct {
	waitForLock bool // the call waits if another transaction has locked its market
	caller      signal.Caller
	draft       signal.Draft
	answer      signal.Filing
	err         error
	done        chan struct{}
	abandoned   atomic.Bool // the caller no longer waits for the answer
}

func newFiling(c signal.Call) *filing {
	return &filing{caller: c.Caller, draft: c.Draft, done: make(chan struct{})}
}

// wait returns the answer of a call, or the error of ctx if ctx ends first. If ctx ends while the call is in the queue, the
// call is not written. If ctx ends while the call is being written, the call may be stored or not; filing the same draft
// again returns the stored call.
func (f *filing) wait(ctx context.Context) (signal.Filing, error) {
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
		f.abandoned.Store(true)
		return signal.Filing{}, ctx.Err()
	}
}

// wanted reports whether a caller still waits for the answer of the call.
func (f *filing) wanted() bool { return !f.abandoned.Load() }

// writer writes a batch of calls and returns the calls that have an answer. It moves the other calls to another queue. After
// an error, either all calls of the batch are stored or none, and writing the batch again returns the answers.
type writer func(ctx context.Context, calls []*filing) (answered []*filing, err error)

// newFilings returns the queue of calls. When more than maxBatch calls wait, the queue starts a second concurrent statement.
func newFilings(write writer) *batch.Queue[*filing] {
	return batch.New(batch.Config[*filing]{
		Size: maxBatch, Bound: queueLength, Flight: writers, Spread: maxBatch + 1, Wanted: (*filing).wanted, Send: write.flush,
	})
}

// newLockedFilings returns the queue of calls that wait for a locked market. Calls are batched by market, so a market whose
// outcome is being claimed does not delay calls on other markets.
func newLockedFilings(write writer) *batch.Queue[*filing] {
	return batch.New(batch.Config[*filing]{
		Size: maxBatch, Bound: queueLength, Flight: 1, All: lockWaiters, Wanted: (*filing).wanted, Send: write.flush,
		Key: func(f *filing) string { return string(f.draft.MarketID) },
	})
}

// requeueLocked moves a call on a locked or unknown market to the queue of locked markets, if the call has waitForLock. It
// reports whether it moved the call. If that queue is full, it sets the error of the call to signal.ErrBusy.
func (s *Store) requeueLocked(f *filing) bool {
	if !f.waitForLock || f.answer.Verdict != signal.VerdictUnknown {
		return false
	}
	if s.lockedFilings.Add(f) == 1 {
		return true
	}
	f.err = signal.ErrBusy
	return false
}

// flush writes a batch. Calls that repeat a draft id are written one by one after the other calls. If the write fails, flush
// writes all calls one by one, so that an invalid call fails alone. A call that the first attempt stored is then a replay,
// because its draft id is the same. If the batch timed out, flush does not write it again: the callers receive the error and
// may file the same drafts again.
func (w writer) flush(calls []*filing) {
	rest := split(calls)
	first := calls[:len(calls)-len(rest)]
	ctx, cancel := context.WithTimeout(context.Background(), batchBudget)
	answered, err := w(ctx, first)
	late := ctx.Err() != nil
	cancel()
	switch {
	case err == nil:
		finish(answered)
	case late:
		fail(calls, err)
		return
	default:
		rest = calls
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

// split moves calls with a draft id that occurs earlier in the batch to the end of the slice, and returns these calls. One
// statement must not contain the same draft id twice.
func split(calls []*filing) []*filing {
	if len(calls) == 1 {
		return nil
	}
	seen := make(map[string]bool, len(calls))
	var first, repeated []*filing
	for _, f := range calls {
		if seen[f.draft.ID] {
			repeated = append(repeated, f)
			continue
		}
		seen[f.draft.ID] = true
		first = append(first, f)
	}
	if repeated == nil {
		return nil
	}
	copy(calls, append(first, repeated...))
	return calls[len(first):]
}

func finish(calls []*filing) {
	for _, f := range calls {
		close(f.done)
	}
}

func fail(calls []*filing, err error) {
	for _, f := range calls {
		f.err = err
		close(f.done)
	}
}
