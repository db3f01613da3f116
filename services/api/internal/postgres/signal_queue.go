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
	filers      = 2 // statements that write calls at a time
	patients    = 4 // locked markets that are waited for at a time
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

// wanted reports whether a caller still waits for the answer.
func (f *filing) wanted() bool { return !f.left.Load() }

// writer writes a batch and gives the members that are answered; the others have
// been handed on. Where it fails, nothing of the batch is written or all of it is in
// doubt, which a second try settles.
type writer func(ctx context.Context, calls []*filing) (answered []*filing, err error)

// newFilings returns the queue of calls. A second statement is started when more calls wait than one takes.
func newFilings(write writer) *batch.Queue[*filing] {
	return batch.New(batch.Config[*filing]{
		Size: maxBatch, Bound: queueLength, Flight: filers, Spread: maxBatch + 1, Wanted: (*filing).wanted, Send: write.flush,
	})
}

// newPatient returns the queue of calls that wait for a locked market. Each market has a line, so that a market that is being
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

// flush writes a batch; when it fails as a whole its members are written one
// by one, so that one bad row fails alone. A second try of a filing that had
// committed is a replay, because its draft id is the same. A batch that used up its
// time is not tried again: whoever still waits does that with more time.
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

// split moves repeats of a draft id to the end and returns them: one statement
// must not hold the same draft twice.
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
