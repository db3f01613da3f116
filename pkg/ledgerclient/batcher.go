package ledgerclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/telemetry"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

const (
	// maxBatchSize is the maximum number of calls in a batch. The api stores that number in one statement.
	maxBatchSize = 128
	// maxSenders is the maximum number of batches in flight. The api stores one batch while the next one is in transit.
	maxSenders = 2
	// maxPending is the maximum number of calls that are queued or in flight, regardless of the speed of the api.
	// Further calls are rejected at once.
	maxPending = 4096
	// batchTimeout is the timeout of one batch. Each caller has a shorter deadline.
	batchTimeout = 3 * time.Second
)

var errOverloaded = apperr.New(apperr.Unavailable, "db_unavailable", "the service is overloaded; retry in 1 s").
	With("retryAfterMs", 1000)

// File files one call and returns the stored call. Calls that wait at the same time are sent in batches.
// mayBeStored means that an earlier attempt may have been stored. Such a call is not rejected because of overload.
// Errors: those of SignalService.File, and db_unavailable with retryAfterMs when too many calls are pending.
func (c *Client) File(ctx context.Context, call *signalv1.FileRequest, mayBeStored bool) (*signalv1.FileResponse, error) {
	return c.calls.file(ctx, call, mayBeStored)
}

// batcher sends waiting calls to the api in batches. It has no timer: a call is sent at once while fewer than
// maxSenders batches are in flight, and batches grow only while earlier ones are in flight.
type batcher struct {
	ledger signalv1.SignalServiceClient
	now    func() time.Time
	queue  *batch.Queue[*pendingCall]

	mu        sync.Mutex
	inFlight  int // calls that are sent and not answered
	admission admission
}

func newBatcher(ledger signalv1.SignalServiceClient, now func() time.Time) *batcher {
	b := &batcher{ledger: ledger, now: now, admission: newAdmission()}
	b.queue = batch.New(batch.Config[*pendingCall]{
		Size: maxBatchSize, Adapt: b.batchSize, Bound: maxPending, Flight: maxSenders, Wanted: b.wanted, Send: b.send,
	})
	return b
}

// pendingCall is a call that waits in the queue or was sent and has no answer yet.
type pendingCall struct {
	ctx         context.Context
	call        *signalv1.FileRequest
	arrived     time.Time
	mayBeStored bool // an earlier attempt may have been stored
	sent        bool
	done        chan struct{} // closed when answer or err is set
	answer      *signalv1.FileAnswer
	err         error
}

// file files one call and returns the stored call. If mayBeStored is set, an earlier attempt may have been stored. Overload is
// then no reason to reject the call, and it is sent first, because its client needs to know whether it was stored.
func (b *batcher) file(ctx context.Context, call *signalv1.FileRequest, mayBeStored bool) (*signalv1.FileResponse, error) {
	if telemetry.Sampled(ctx) { // a trace covers one call, so the call is not batched
		return b.ledger.File(ctx, call)
	}
	p := &pendingCall{ctx: ctx, call: call, arrived: b.now(), mayBeStored: mayBeStored, done: make(chan struct{})}
	if !b.add(p) {
		return nil, errOverloaded
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return nil, b.contextError(p)
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case p.answer.GetAlone(): // the call may wait for a venue, and a batch must not
		return b.ledger.File(ctx, call)
	}
	if err := grpcx.DecodeError(ctx, p.answer.GetRefusal()); err != nil {
		return nil, err
	}
	return &signalv1.FileResponse{Id: p.answer.GetId(), Replayed: p.answer.GetReplayed(), Filing: p.answer.GetFiling()}, nil
}

// add adds a call to the queue and reports whether it was admitted. The limits do not apply to a call that may already be
// stored.
func (b *batcher) add(p *pendingCall) bool {
	if p.mayBeStored {
		return b.queue.AddFirst(p)
	}
	queued := b.queue.Len() // without b.mu: the queue calls batchSize while it holds its own lock
	b.mu.Lock()
	admitted := b.admission.admit(queued + b.inFlight)
	b.mu.Unlock()
	return admitted && b.queue.Add(p) == 1
}

// contextError returns the error of a call whose context has ended. After a cancellation it is the error of the context.
// After the deadline it is errOverloaded if no attempt was sent, and otherwise grpcx.ErrUnavailable.
func (b *batcher) contextError(p *pendingCall) error {
	if !errors.Is(p.ctx.Err(), context.DeadlineExceeded) {
		return p.ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.sent && !p.mayBeStored {
		return errOverloaded
	}
	return grpcx.ErrUnavailable.Wrap(p.ctx.Err())
}

// batchSize returns the maximum number of calls in the next batch.
func (b *batcher) batchSize() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.admission.batchSize
}

// wanted reports whether a queued call must be sent. If so, it counts the call as in flight. It returns false if the context of
// the call has ended, or if the call has waited too long. In the latter case it rejects the call with errOverloaded.
func (b *batcher) wanted(p *pendingCall) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case p.ctx.Err() != nil:
		return false
	case !p.mayBeStored && b.admission.expired(b.now().Sub(p.arrived)):
		p.err = errOverloaded
		close(p.done)
		return false
	}
	p.sent = true
	b.inFlight++
	return true
}

// send files the calls of a batch in one request, sets the answer or error of each call, and closes its channel done.
func (b *batcher) send(calls []*pendingCall) {
	request := &signalv1.FileManyRequest{Calls: make([]*signalv1.FileRequest, len(calls))}
	for i, p := range calls {
		// Written only if it differs, because an earlier attempt may still read the call.
		if id := telemetry.RequestID(p.ctx); p.call.GetRequestId() != id {
			p.call.RequestId = id
		}
		request.Calls[i] = p.call
	}
	ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
	defer cancel()
	start := b.now()
	response, err := b.ledger.FileMany(ctx, request)
	b.completed(len(calls), start)
	if err == nil && len(response.GetAnswers()) != len(calls) {
		err = apperr.ErrInternal.Wrap(errors.New("the response of the api must contain one answer per call"))
	}
	for i, p := range calls {
		if p.err = err; err == nil {
			p.answer = response.GetAnswers()[i]
		}
		close(p.done)
	}
}

// completed records that the request for a batch has succeeded or failed. calls is the number of calls in the batch, and start is
// the time at which it was sent.
func (b *batcher) completed(calls int, start time.Time) {
	now, queued := b.now(), b.queue.Len()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight -= calls
	b.admission.observe(now, calls, now.Sub(start), queued)
	if queued+b.inFlight == 0 {
		b.admission.reset()
	}
}
