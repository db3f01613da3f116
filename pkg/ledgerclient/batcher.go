package ledgerclient

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/obs"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

const (
	// maxBatchSize is the most calls of one batch: as many as the api stores in one statement.
	maxBatchSize = 128
	// maxSenders is the most batches in flight. The api stores one while the next one is in transit.
	maxSenders = 2
	// maxPending is the most calls that wait or are in flight, however fast the api is. More are rejected at once.
	maxPending = 4096
	// batchTimeout bounds one batch. Each caller has a shorter deadline.
	batchTimeout = 3 * time.Second
)

var errOverloaded = fault.New(fault.Unavailable, "db_unavailable", "too many calls wait to be written").With("retryAfterMs", 1000)

// File files one call and returns what is stored. Calls that wait at the same moment are sent in one batch. mayBeStored
// states that an earlier attempt may have been stored; the call is then not rejected because of overload. Faults: those of
// SignalService.File; db_unavailable, with retryAfterMs, when too many calls wait.
func (c *Client) File(ctx context.Context, call *signalv1.FileRequest, mayBeStored bool) (*signalv1.FileResponse, error) {
	return c.calls.file(ctx, call, mayBeStored)
}

// batcher sends the calls that wait at the same moment to the api in one batch. It has no timer: a call is sent at once while
// fewer than maxSenders batches are in flight, and batches grow only while earlier ones are in flight.
type batcher struct {
	ledger signalv1.SignalServiceClient
	now    func() time.Time

	mu        sync.Mutex
	queue     []*pendingCall
	inFlight  int // calls that are sent and not answered
	senders   int // goroutines that send batches, at most maxSenders
	admission admission
}

func newBatcher(ledger signalv1.SignalServiceClient, now func() time.Time) batcher {
	return batcher{ledger: ledger, now: now, admission: newAdmission()}
}

// pendingCall is one call that is not answered.
type pendingCall struct {
	ctx         context.Context
	call        *signalv1.FileRequest
	arrived     time.Time
	mayBeStored bool // an earlier attempt may have been stored
	sent        bool
	done        chan struct{} // closed when answer or err is set; nil if the caller sends the call itself
	answer      *signalv1.FileAnswer
	err         error
}

// file files one call and returns what is stored. A call that may be stored is not rejected because of overload and is sent
// before the others, because its caller must learn whether it is.
func (b *batcher) file(ctx context.Context, call *signalv1.FileRequest, mayBeStored bool) (*signalv1.FileResponse, error) {
	p := &pendingCall{ctx: ctx, call: call, arrived: b.now(), mayBeStored: mayBeStored}
	b.mu.Lock()
	switch {
	case b.senders < maxSenders:
		b.senders++
		b.inFlight++
		b.mu.Unlock()
		b.sendBatch(ctx, []*pendingCall{p})
		b.passSender()
	case obs.Sampled(ctx): // a trace follows one call, not a batch
		b.mu.Unlock()
		return b.ledger.File(ctx, call)
	case !mayBeStored && !b.admission.admit(len(b.queue)+b.inFlight):
		b.mu.Unlock()
		return nil, errOverloaded
	default:
		b.enqueue(p)
		b.mu.Unlock()
		select {
		case <-p.done:
		case <-ctx.Done():
			return nil, b.contextError(p)
		}
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case p.answer.GetAlone(): // the call may wait for a venue, so no batch may wait for it
		return b.ledger.File(ctx, call)
	}
	if err := link.Disclose(ctx, p.answer.GetRefusal()); err != nil {
		return nil, err
	}
	return &signalv1.FileResponse{Id: p.answer.GetId(), Replayed: p.answer.GetReplayed(), Filing: p.answer.GetFiling()}, nil
}

// enqueue adds a call to the queue. b.mu must be locked.
func (b *batcher) enqueue(p *pendingCall) {
	p.done = make(chan struct{})
	if p.mayBeStored {
		b.queue = slices.Insert(b.queue, 0, p)
		return
	}
	b.queue = append(b.queue, p)
}

// contextError returns the error of a queued call whose context has ended. After the deadline it is errOverloaded if no
// attempt was sent, else the error of an unavailable api.
func (b *batcher) contextError(p *pendingCall) error {
	if !errors.Is(p.ctx.Err(), context.DeadlineExceeded) {
		return p.ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.sent && !p.mayBeStored {
		return errOverloaded
	}
	return link.ErrUnavailable.Wrap(p.ctx.Err())
}

// passSender starts a goroutine that sends the queue in place of the caller, which has its answer.
func (b *batcher) passSender() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) > 0 {
		go b.sendQueue()
		return
	}
	b.endSender()
}

// endSender counts one sender less. b.mu must be locked.
func (b *batcher) endSender() {
	if b.senders--; b.senders == 0 {
		b.admission.reset()
	}
}

// sendQueue sends batches until the queue is empty.
func (b *batcher) sendQueue() {
	for {
		batch := b.nextBatch()
		if batch == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
		b.sendBatch(ctx, batch)
		cancel()
	}
}

// nextBatch takes a batch from the queue. It leaves out calls whose caller has left and rejects those that have waited too
// long. If the queue is empty, it returns nil and ends the sender.
func (b *batcher) nextBatch() []*pendingCall {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for len(b.queue) > 0 {
		n := min(len(b.queue), b.admission.batchSize)
		batch := make([]*pendingCall, 0, n)
		for _, p := range b.queue[:n] {
			switch {
			case p.ctx.Err() != nil:
			case !p.mayBeStored && b.admission.expired(now.Sub(p.arrived)):
				p.err = errOverloaded
				close(p.done)
			default:
				p.sent = true
				batch = append(batch, p)
			}
		}
		b.queue = b.queue[n:]
		if len(batch) > 0 {
			b.inFlight += len(batch)
			return batch
		}
	}
	b.queue = nil
	b.endSender()
	return nil
}

// sendBatch files the calls of a batch in one request and sets their answers.
func (b *batcher) sendBatch(ctx context.Context, batch []*pendingCall) {
	request := &signalv1.FileManyRequest{Calls: make([]*signalv1.FileRequest, len(batch))}
	for i, p := range batch {
		p.call.RequestId = link.RequestID(p.ctx)
		request.Calls[i] = p.call
	}
	start := b.now()
	response, err := b.ledger.FileMany(ctx, request)
	b.completeBatch(len(batch), start)
	if err == nil && len(response.GetAnswers()) != len(batch) {
		err = fault.ErrInternal.Wrap(errors.New("the ledger did not answer every call"))
	}
	for i, p := range batch {
		if p.err = err; err == nil {
			p.answer = response.GetAnswers()[i]
		}
		if p.done != nil {
			close(p.done)
		}
	}
}

// completeBatch records that a batch of this many calls, sent at start, has its answer.
func (b *batcher) completeBatch(calls int, start time.Time) {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight -= calls
	b.admission.observe(now, calls, now.Sub(start), len(b.queue))
}
