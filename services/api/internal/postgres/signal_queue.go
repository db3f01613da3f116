package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Limits of the queues of calls.
const (
	maxBatch    = 128
	queueLength = 4096
	writers     = 2 // concurrent statements that write calls
	lockWaiters = 4 // locked markets for which statements wait concurrently
	batchBudget = 5 * time.Second
)

// filing is one call in a queue. done is closed after answer or err is set.
type filing struct {
	waitForLock bool // waits for a market that another transaction has locked
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

// wait returns the answer, or the error of ctx if ctx ends first. A call that is still in the queue is then not
// written. A call that is being written may be stored or not; filing the same draft again returns the stored call.
func (f *filing) wait(ctx context.Context) (signal.Filing, error) {
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
		f.abandoned.Store(true)
		return signal.Filing{}, ctx.Err()
	}
}

// wanted reports whether the caller still waits for the answer.
func (f *filing) wanted() bool { return !f.abandoned.Load() }

// writer writes a batch and returns the calls that have an answer. It moves the others to another queue. If it fails,
// either all calls of the batch are stored or none, and writing them again gives their answers.
type writer func(ctx context.Context, calls []*filing) (answered []*filing, err error)

// newFilings returns the queue of calls. A second concurrent statement starts when more calls wait than one statement
// takes.
func newFilings(write writer) *batch.Queue[*filing] {
	return batch.New(batch.Config[*filing]{
		Size: maxBatch, Bound: queueLength, Flight: writers, Spread: maxBatch + 1, Wanted: (*filing).wanted, Send: write.flush,
	})
}

// newLockedFilings returns the queue of calls that wait for a locked market. The key is the market, so that a market
// that is being resolved delays no call on another market.
func newLockedFilings(write writer) *batch.Queue[*filing] {
	return batch.New(batch.Config[*filing]{
		Size: maxBatch, Bound: queueLength, Flight: 1, All: lockWaiters, Wanted: (*filing).wanted, Send: write.flush,
		Key: func(f *filing) string { return string(f.draft.MarketID) },
	})
}

// requeueLocked moves a call on a market that is locked or unknown to the queue of locked markets, if the call waits
// for locks. It reports whether it did. If that queue is full, the call fails with ErrBusy.
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

// flush writes a batch. If that fails, it writes the calls individually, so that an invalid call fails alone. A call
// that the first attempt has stored is then a replay, because its draft id is the same. If the batch timed out, flush
// does not write it again: the callers get the error and may file the same drafts again.
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

// split moves repeated draft ids to the end and returns them, because one statement must not contain the same draft
// twice.
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
