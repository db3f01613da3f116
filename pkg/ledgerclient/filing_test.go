package ledgerclient

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slow is a ledger that writes so many calls a second, one message after the other.
type slow struct {
	signalv1.SignalServiceClient
	turn      chan struct{} // of one
	perSecond int
}

// FileMany implements signalv1.SignalServiceClient.
func (s *slow) FileMany(ctx context.Context, r *signalv1.FileManyRequest, _ ...grpc.CallOption) (*signalv1.FileManyResponse, error) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
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

// heard is what callers of two hubs before one ledger heard, and when.
type heard struct {
	mu          sync.Mutex
	taken, late int
	refused     []time.Duration // after how long
}

// callTime is what a caller waits for an answer.
const callTime = 2500 * time.Millisecond

func (h *heard) call(f *filings) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	began := time.Now()
	_, err := f.file(ctx, &signalv1.FileRequest{}, false)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.taken++
	case errors.Is(err, errCrowded):
		h.refused = append(h.refused, time.Since(began))
	default:
		h.late++
	}
}

// offer brings calls at a steady rate.
func (h *heard) offer(perSecond int, lasting time.Duration, hubs ...*filings) {
	var all sync.WaitGroup
	began := time.Now()
	for i := range int(lasting.Seconds() * float64(perSecond)) {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		all.Go(func() { h.call(hubs[i%len(hubs)]) })
	}
	all.Wait()
	time.Sleep(joinedTime) // a message whose callers have left ends too
}

// slowly is how many were refused after a time that a caller notices.
func (h *heard) slowly() (n int) {
	for _, took := range h.refused {
		if took > 20*time.Millisecond {
			n++
		}
	}
	return n
}

// Three times what a ledger can write is offered: it writes as much as it can, in time,
// and nearly all others hear at once that there are too many.
func TestOverloadIsShed(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []int{300, 1000} {
		synctest.Test(t, func(t *testing.T) {
			ledger := &slow{turn: make(chan struct{}, 1), perSecond: perSecond}
			a, b := newFilings(ledger, time.Now), newFilings(ledger, time.Now)
			h, lasting := &heard{}, 20*time.Second
			h.offer(3*perSecond, lasting, &a, &b)
			whole := perSecond * int(lasting.Seconds())
			t.Logf("%d a second: taken %d of %d, refused %d, %d of them slowly, late %d", perSecond, h.taken, whole, len(h.refused), h.slowly(), h.late)
			if h.taken < whole*90/100 || h.slowly() > len(h.refused)/20 || h.late > 0 {
				t.Error("it does not bear it")
			}
		})
	}
}

// Many calls at one moment are no overload: they are taken one after the other.
func TestBurstIsTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &slow{turn: make(chan struct{}, 1), perSecond: 300}
		a, b := newFilings(ledger, time.Now), newFilings(ledger, time.Now)
		h := &heard{}
		for range 5 {
			h.offer(50_000, 10*time.Millisecond, &a, &b)
		}
		if h.taken != 2500 {
			t.Errorf("taken %d, refused %d, late %d", h.taken, len(h.refused), h.late)
		}
	})
}

// What is refused in one moment is taken in the next, once the ledger is fast again.
func TestRoomComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &slow{turn: make(chan struct{}, 1), perSecond: 100}
		a, before, after := newFilings(ledger, time.Now), &heard{}, &heard{}
		before.offer(500, 5*time.Second, &a)
		ledger.perSecond = 10_000
		after.offer(500, 2*time.Second, &a)
		if len(before.refused) < 1000 || after.taken != 1000 || a.room.places != maxPending {
			t.Errorf("refused %d, then taken %d; %d places", len(before.refused), after.taken, a.room.places)
		}
	})
}
