package venue

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

// mostWaiting bounds the requests of one purpose that wait for their turn.
const mostWaiting = 64

// parts says how the rate of a host is shared out, and how long a request may
// wait for its turn; 0: as long as its caller. A filing gives its venue a second
// in all, so it must know early that it will not be asked.
var parts = [market.Purposes]struct {
	share float64 // of the rate; together 1
	wait  time.Duration
}{
	market.ForReader:    {0.15, time.Second},
	market.ForWatch:     {0.15, 2 * time.Second},
	market.ForCatalogue: {0.3, 0},
	market.ForFiling:    {0.4, 750 * time.Millisecond},
}

// turns is the rate limit towards one host: a token bucket for each purpose,
// together no more than the rate. What a purpose does not use itself goes to the
// most urgent one that waits, but never the last of what it has saved up.
type turns struct {
	rate float64

	mu    sync.Mutex
	lanes [market.Purposes]lane
	timer *time.Timer
}

type lane struct {
	bucket *rate.Limiter
	queue  []chan struct{} // first come, first served; closed at its turn
}

func newTurns(perSecond float64) *turns {
	t := &turns{rate: perSecond}
	for p := range t.lanes {
		rps := parts[p].share * perSecond
		t.lanes[p].bucket = rate.NewLimiter(rate.Limit(rps), max(int(2*rps), 1))
	}
	return t
}

// wait takes a turn for the purpose of ctx. The fault is market.Busy: its wait is
// over, or so many wait before it that there is no sense in waiting.
func (t *turns) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return ErrUnavailable.Wrap(err)
	}
	p := market.PurposeOf(ctx)
	l, longest := &t.lanes[p], parts[p].wait
	t.mu.Lock()
	if len(l.queue) == 0 && t.grant(p) {
		t.mu.Unlock()
		return nil
	}
	ahead := len(l.queue) + 1
	if ahead > mostWaiting || longest > 0 && float64(ahead) > max(t.rate*longest.Seconds(), 1) {
		t.mu.Unlock()
		return market.Busy()
	}
	turn := make(chan struct{})
	l.queue = append(l.queue, turn)
	t.schedule()
	t.mu.Unlock()
	market.NoteQueued(ctx)

	if longest > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, longest)
		defer cancel()
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(l.queue, turn)
	if at < 0 {
		return nil // its turn came at the same moment
	}
	l.queue = slices.Delete(l.queue, at, at+1)
	return market.Busy()
}

// grant takes a token for a purpose: its own, or one of a purpose that nobody
// waits for and whose bucket is full, unless somebody more urgent waits. The lock
// is held, as by those below.
func (t *turns) grant(p market.Purpose) bool {
	if t.lanes[p].bucket.Allow() {
		return true
	}
	for urgent := int(p) + 1; urgent < market.Purposes; urgent++ {
		if len(t.lanes[urgent].queue) > 0 {
			return false
		}
	}
	for q := range t.lanes {
		l := &t.lanes[q]
		if q != int(p) && len(l.queue) == 0 && l.bucket.Tokens() >= float64(l.bucket.Burst()) && l.bucket.Allow() {
			return true
		}
	}
	return false
}

// serve gives turns to those who wait, the most urgent first.
func (t *turns) serve() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := market.Purposes - 1; p >= 0; p-- {
		l := &t.lanes[p]
		for len(l.queue) > 0 && t.grant(market.Purpose(p)) {
			close(l.queue[0])
			l.queue = slices.Delete(l.queue, 0, 1)
		}
	}
	t.schedule()
}

// schedule has serve run when the next token can be there, if anybody waits.
func (t *turns) schedule() {
	waiting, next := false, time.Second
	for p := range t.lanes {
		l := &t.lanes[p]
		wanted := float64(l.bucket.Burst()) // from where on it lends
		if len(l.queue) > 0 {
			waiting, wanted = true, 1
		}
		missing := max(wanted-l.bucket.Tokens(), 0) / float64(l.bucket.Limit())
		next = min(next, time.Duration(missing*float64(time.Second)))
	}
	if !waiting {
		return
	}
	next = max(next, time.Millisecond)
	if t.timer == nil {
		t.timer = time.AfterFunc(next, t.serve)
		return
	}
	t.timer.Reset(next)
}
