package ledgerclient

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/grpcx"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slowLedger is an api that stores perSecond calls per second, one batch at a time. It needs a synctest bubble, in
// which time.Sleep waits in virtual time.
type slowLedger struct {
	signalv1.SignalServiceClient
	busy      chan struct{} // of capacity 1
	perSecond int
}

func newSlowLedger(perSecond int) *slowLedger {
	return &slowLedger{busy: make(chan struct{}, 1), perSecond: perSecond}
}

// FileMany implements signalv1.SignalServiceClient.
func (s *slowLedger) FileMany(ctx context.Context, r *signalv1.FileManyRequest, _ ...grpc.CallOption) (*signalv1.FileManyResponse, error) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	time.Sleep(time.Duration(len(r.GetCalls())) * time.Second / time.Duration(s.perSecond))
	out := &signalv1.FileManyResponse{}
	for range r.GetCalls() {
		out.Answers = append(out.Answers, &signalv1.FileAnswer{})
	}
	return out, nil
}

// results counts the outcomes of the calls of a test.
type results struct {
	mu             sync.Mutex
	accepted, late int
	rejected       []time.Duration // time to each rejection
}

// callTimeout is the timeout of the client that files a call.
const callTimeout = 2500 * time.Millisecond

func (r *results) file(b *batcher) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	start := time.Now()
	_, err := b.file(ctx, &signalv1.FileRequest{}, false)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.accepted++
	case errors.Is(err, errOverloaded):
		r.rejected = append(r.rejected, time.Since(start))
	default:
		r.late++
	}
}

// fileAtRate files perSecond calls per second for the duration d, distributed over the batchers, and waits for all
// answers. It needs a synctest bubble, in which d passes in virtual time.
func (r *results) fileAtRate(perSecond int, d time.Duration, batchers ...*batcher) {
	var calls sync.WaitGroup
	start := time.Now()
	for i := range int(d.Seconds() * float64(perSecond)) {
		time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		calls.Go(func() { r.file(batchers[i%len(batchers)]) })
	}
	calls.Wait()
	time.Sleep(batchTimeout) // until the batches of canceled calls have ended
}

// rejectedLate returns the number of calls whose rejection took longer than 20 ms.
func (r *results) rejectedLate() (n int) {
	for _, took := range r.rejected {
		if took > 20*time.Millisecond {
			n++
		}
	}
	return n
}

// TestOverloadIsShed checks an api that receives three times the calls that it can store. It must store at least 90% of
// its capacity, no call may miss its deadline, and at most 5% of the rejections may take longer than 20 ms.
func TestOverloadIsShed(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []int{300, 1000} {
		synctest.Test(t, func(t *testing.T) {
			ledger := newSlowLedger(perSecond)
			a, b := newBatcher(ledger, time.Now), newBatcher(ledger, time.Now)
			r, d := &results{}, 20*time.Second
			r.fileAtRate(3*perSecond, d, a, b)
			capacity := perSecond * int(d.Seconds())
			t.Logf("%d calls per second: accepted %d of %d, rejected %d (%d of them late), %d missed their deadline",
				perSecond, r.accepted, capacity, len(r.rejected), r.rejectedLate(), r.late)
			if r.accepted < capacity*90/100 || r.rejectedLate() > len(r.rejected)/20 || r.late > 0 {
				t.Error("want at least 90 % of the capacity accepted, at most 5 % rejected late, and no missed deadline")
			}
		})
	}
}

// TestBurstIsAccepted checks that a short burst of calls is not treated as an overload.
func TestBurstIsAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := newSlowLedger(300)
		a, b := newBatcher(ledger, time.Now), newBatcher(ledger, time.Now)
		r := &results{}
		for range 5 {
			r.fileAtRate(50_000, 10*time.Millisecond, a, b)
		}
		if r.accepted != 2500 {
			t.Errorf("accepted %d calls, rejected %d, %d missed their deadline; want 2500 accepted", r.accepted, len(r.rejected), r.late)
		}
	})
}

// TestLimitRecovers checks that all calls are accepted after the api has become fast again.
func TestLimitRecovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := newSlowLedger(100)
		b, slow, fast := newBatcher(ledger, time.Now), &results{}, &results{}
		slow.fileAtRate(500, 5*time.Second, b)
		ledger.perSecond = 10_000
		fast.fileAtRate(500, 2*time.Second, b)
		if len(slow.rejected) < 1000 || fast.accepted != 1000 || b.admission.limit != maxPending {
			t.Errorf("rejected %d calls, then accepted %d with a limit of %d; want at least 1000, 1000 and %d",
				len(slow.rejected), fast.accepted, b.admission.limit, maxPending)
		}
	})
}

// hungLedger is an api that does not answer. It records the ids of the calls that it receives.
type hungLedger struct {
	signalv1.SignalServiceClient
	mu       sync.Mutex
	received []string
}

// FileMany implements signalv1.SignalServiceClient.
func (h *hungLedger) FileMany(ctx context.Context, r *signalv1.FileManyRequest, _ ...grpc.CallOption) (*signalv1.FileManyResponse, error) {
	h.mu.Lock()
	for _, c := range r.GetCalls() {
		h.received = append(h.received, c.GetDraft().GetId())
	}
	h.mu.Unlock()
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestHungLedger checks that, while the api does not answer, each call fails at its deadline, and a call whose client
// has canceled is not sent.
func TestHungLedger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &hungLedger{}
		b := newBatcher(ledger, time.Now)
		var calls sync.WaitGroup
		for _, c := range []struct {
			id          string
			mayBeStored bool
			leave       bool // the client cancels after 1 s, before its deadline
			want        error
		}{
			{"sent 1", false, false, grpcx.ErrUnavailable},
			{"sent 2", false, false, grpcx.ErrUnavailable},
			{"waiting", false, false, errOverloaded},
			{"may be stored", true, false, grpcx.ErrUnavailable},
			{"left", false, true, context.Canceled},
		} {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
				defer cancel()
				if c.leave {
					time.AfterFunc(time.Second, cancel)
				}
				start := time.Now()
				call := &signalv1.FileRequest{Draft: &signalv1.Draft{Id: c.id}}
				if _, err := b.file(ctx, call, c.mayBeStored); !errors.Is(err, c.want) || time.Since(start) > callTimeout {
					t.Errorf("%s: %v after %v; want %v", c.id, err, time.Since(start), c.want)
				}
			})
			synctest.Wait() // the call is sent or queued
		}
		calls.Wait()
		time.Sleep(batchTimeout)
		if slices.Sort(ledger.received); !slices.Equal(ledger.received, []string{"sent 1", "sent 2"}) {
			t.Errorf("the api received %q; want only the calls that were sent at once", ledger.received)
		}
		if n := b.queue.Len() + b.inFlight; n != 0 {
			t.Errorf("%d calls are pending at the end; want 0", n)
		}
	})
}
