package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Sizes of the queues of calls.
const (
	maxBatch    = 128
	queueLength = 4096
	filers      = 2 // most statements that write calls at the same time
	patients    = 4 // most locked markets that are waited for at the same time
	batchBudget = 5 * time.Second
)

// filing is one call in a queue. done is closed when answer or err is set.
type filing struct {
	patient bool // waits for a market that another transaction has locked
	caller  signal.Caller
	draft   signal.Draft
	answer  signal.Filing
	err     error
	done    chan struct{}
	left    atomic.Bool // the caller does not wait for the answer any more
}

func newFiling(c signal.Call) *filing {
	return &filing{caller: c.Caller, draft: c.Draft, done: make(chan struct{})}
}

// wait returns the answer, or the error of ctx when it ends first. A call that is still in the queue is then not written. One
// that is being written may be stored or not; filing the same draft again returns what is stored.
func (f *filing) wait(ctx context.Context) (signal.Filing, error) {
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
		f.left.Store(true)
		return signal.Filing{}, ctx.Err()
	}
}

// wanted reports whether a caller still waits for the answer.
func (f *filing) wanted() bool { return !f.left.Load() }

// writer writes a batch and returns the calls that have an answer; it has moved the others to another queue. If it fails, either
// all calls of the batch are stored or none, and writing them again gives the answer.
type writer func(ctx context.Context, calls []*filing) (answered []*filing, err error)

// newFilings returns the queue of calls. A second statement is started when more calls wait than one takes.
func newFilings(write writer) *batch.Queue[*filing] {
	return batch.New(batch.Config[*filing]{
		Size: maxBatch, Bound: queueLength, Flight: filers, Spread: maxBatch + 1, Wanted: (*filing).wanted, Send: write.flush,
	})
}

// newPatient returns the queue of calls that wait for a locked market. The market is the key, so that a market that is being
// resolved delays no call on another one.
func newPatient(write writer) *batch.Queue[*filing] {
	return batch.New(batch.Config[*filing]{
		Size: maxBatch, Bound: queueLength, Flight: 1, All: patients, Wanted: (*filing).wanted, Send: write.flush,
		Key: func(f *filing) string { return string(f.draft.MarketID) },
	})
}

// handOver moves a call on a market that is locked, or unknown, to the queue of locked markets if its caller waits for one, and
// reports whether it did. A call that finds no space there fails with ErrBusy.
func (s *Store) handOver(f *filing) bool {
	if !f.patient || f.answer.Verdict != signal.VerdictUnknown {
		return false
	}
	if s.patient.Add(f) == 1 {
		return true
	}
	f.err = signal.ErrBusy
	return false
}

// flush writes a batch. If that fails, it writes the calls one by one, so that one invalid call fails alone. A call that the first
// attempt has stored is then a replay, because its draft id is the same. If the batch used up its time, flush does not write it
// again: the callers get the error and may file the same drafts again.
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

// split moves repeats of a draft id to the end and returns them, because one statement must not have the same draft twice.
func split(calls []*filing) []*filing {
	if len(calls) == 1 {
		return nil
	}
	seen := make(map[string]bool, len(calls))
	var first, again []*filing
	for _, f := range calls {
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
	copy(calls, append(first, again...))
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
