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
	// maxJoined is the most calls of one message: as many as the ledger files in
	// one statement.
	maxJoined = 128
	// maxFlights is how many messages are under way at a time: one is written
	// while the other travels.
	maxFlights = 2
	// maxPending bounds the calls that are here, however fast the ledger is; more are
	// refused at once.
	maxPending = 4096
	// joinedTime bounds one message; each caller has its own, shorter time besides.
	joinedTime = 3 * time.Second
)

var errCrowded = fault.New(fault.Unavailable, "db_unavailable", "too many calls wait to be written").With("retryAfterMs", 1000)

// File files one call and returns what is stored. Calls that wait at the same moment are sent in one message. again states
// that an earlier attempt may have been stored; the call is then not rejected because of overload. Faults: those of
// SignalService.File; db_unavailable, with retryAfterMs, when too many calls wait.
func (c *Client) File(ctx context.Context, call *signalv1.FileRequest, again bool) (*signalv1.FileResponse, error) {
	return c.filings.file(ctx, call, again)
}

// filings joins the calls that wait at the same moment into one message to the
// ledger, without a timer: a call that comes alone leaves alone, and messages
// grow only while earlier ones are under way.
type filings struct {
	ledger signalv1.SignalServiceClient
	now    func() time.Time

	mu      sync.Mutex
	waiting []*filing
	flying  int // calls that are under way
	flights int
	room    room
}

func newFilings(ledger signalv1.SignalServiceClient, now func() time.Time) filings {
	return filings{ledger: ledger, now: now, room: newRoom()}
}

// filing is one call. Where it waits, done is closed once its answer stands.
type filing struct {
	ctx    context.Context
	call   *signalv1.FileRequest
	came   time.Time
	again  bool // an earlier try may have been written
	sent   bool
	done   chan struct{}
	answer *signalv1.FileAnswer
	err    error
}

// file files one call and returns what is stored. One that is asked for again is
// refused by no crowd and goes before the others: somebody has to know what became of it.
func (f *filings) file(ctx context.Context, call *signalv1.FileRequest, again bool) (*signalv1.FileResponse, error) {
	w := &filing{ctx: ctx, call: call, came: f.now(), again: again}
	f.mu.Lock()
	switch {
	case f.flights < maxFlights:
		f.flights++
		f.flying++
		f.mu.Unlock()
		f.send(ctx, []*filing{w})
		f.land()
	case obs.Sampled(ctx): // a trace follows one call and not its company
		f.mu.Unlock()
		return f.ledger.File(ctx, call)
	case !again && !f.room.fits(len(f.waiting)+f.flying):
		f.mu.Unlock()
		return nil, errCrowded
	default:
		w.done = make(chan struct{})
		if again {
			f.waiting = slices.Insert(f.waiting, 0, w)
		} else {
			f.waiting = append(f.waiting, w)
		}
		f.mu.Unlock()
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil, f.left(w)
		}
	}
	switch {
	case w.err != nil:
		return nil, w.err
	case w.answer.GetAlone(): // it may wait for a venue, and no other call waits with it
		return f.ledger.File(ctx, call)
	}
	if err := link.Disclose(ctx, w.answer.GetRefusal()); err != nil {
		return nil, err
	}
	return &signalv1.FileResponse{Id: w.answer.GetId(), Replayed: w.answer.GetReplayed(), Filing: w.answer.GetFiling()}, nil
}

// left is what a caller hears whose time ran out: as a call of its own would have
// told it, or, when it has only waited, that there were too many.
func (f *filings) left(w *filing) error {
	if !errors.Is(w.ctx.Err(), context.DeadlineExceeded) {
		return w.ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.sent && !w.again {
		return errCrowded
	}
	return link.ErrUnavailable.Wrap(w.ctx.Err())
}

// land hands the place of a flight that has ended to those that wait.
func (f *filings) land() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) > 0 {
		go f.fly()
		return
	}
	f.leave()
}

// leave gives up the place of a flight.
func (f *filings) leave() {
	if f.flights--; f.flights == 0 {
		f.room.rest()
	}
}

// fly sends what waits until nothing does.
func (f *filings) fly() {
	for {
		joined := f.take()
		if joined == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), joinedTime)
		f.send(ctx, joined)
		cancel()
	}
}

// take takes those that wait and still want an answer; with none it gives up the
// flight's place.
func (f *filings) take() []*filing {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for len(f.waiting) > 0 {
		n := min(len(f.waiting), f.room.joined)
		joined := make([]*filing, 0, n)
		for _, w := range f.waiting[:n] {
			switch {
			case w.ctx.Err() != nil:
			case !w.again && !f.room.carries(now.Sub(w.came)):
				w.err = errCrowded
				close(w.done)
			default:
				w.sent = true
				joined = append(joined, w)
			}
		}
		f.waiting = f.waiting[n:]
		if len(joined) > 0 {
			f.flying += len(joined)
			return joined
		}
	}
	f.waiting = nil
	f.leave()
	return nil
}

// send files joined calls in one message and wakes their callers.
func (f *filings) send(ctx context.Context, joined []*filing) {
	many := &signalv1.FileManyRequest{Calls: make([]*signalv1.FileRequest, len(joined))}
	for i, w := range joined {
		w.call.RequestId = link.RequestID(w.ctx)
		many.Calls[i] = w.call
	}
	began := f.now()
	r, err := f.ledger.FileMany(ctx, many)
	f.landed(joined, began)
	if err == nil && len(r.GetAnswers()) != len(joined) {
		err = fault.ErrInternal.Wrap(errors.New("the ledger did not answer every call"))
	}
	for i, w := range joined {
		if w.err = err; err == nil {
			w.answer = r.GetAnswers()[i]
		}
		if w.done != nil {
			close(w.done)
		}
	}
}

// landed counts calls that have their answer, and learns from them.
func (f *filings) landed(joined []*filing, began time.Time) {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flying -= len(joined)
	f.room.learn(now, len(joined), now.Sub(began), len(f.waiting))
}
