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
	market.ForWatch:     {0.1, 2 * time.Second},
	market.ForCatalogue: {0.25, 0},
	market.ForConfirm:   {0.1, 4 * time.Second},
	market.ForFiling:    {0.4, 750 * time.Millisecond},
}

// How the rate falls when the host says that it is too high, and rises again.
const (
	fallBy    = 2
	mostFalls = 16               // of the rate is always left one part in so many
	fallEvery = time.Second      // requests of one moment are refused together
	riseEvery = 30 * time.Second // one step back, if the host has not complained since
)

// turns is the rate limit towards one host: a token bucket for each purpose,
// together no more than the rate. What a purpose does not use itself goes to the
// most urgent one that waits, but never the last of what it has saved up.
type turns struct {
	full float64
	now  func() time.Time

	mu     sync.Mutex
	rate   float64
	fell   time.Time // when the rate was last changed
	paused time.Time // until then no request has a turn
	lanes  [market.Purposes]lane
	timer  *time.Timer
}

type lane struct {
	bucket *rate.Limiter
	queue  []chan struct{} // first come, first served; closed at its turn
}

func newTurns(perSecond float64, now func() time.Time) *turns {
	t := &turns{full: perSecond, rate: perSecond, now: now}
	for p := range t.lanes {
		t.lanes[p].bucket = rate.NewLimiter(part(p, perSecond))
	}
	return t
}

// slow lowers the rate, gives up what is saved, and pauses for as long as the host
// asks for.
func (t *turns) slow(pause time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if until := now.Add(pause); until.After(t.paused) {
		t.paused = until
	}
	if now.Sub(t.fell) < fallEvery {
		return
	}
	t.set(max(t.rate/fallBy, t.full/mostFalls), now)
	for p := range t.lanes {
		for b := t.lanes[p].bucket; b.Allow(); {
			continue
		}
	}
}

// set makes the rate another one. The lock is held.
func (t *turns) set(rps float64, now time.Time) {
	t.rate, t.fell = rps, now
	for p := range t.lanes {
		limit, burst := part(p, rps)
		t.lanes[p].bucket.SetLimit(limit)
		t.lanes[p].bucket.SetBurst(burst)
	}
}

// rest is how long the pause still is; it also lets the rate rise when its time
// has come. The lock is held.
func (t *turns) rest() time.Duration {
	now := t.now()
	if t.rate < t.full && now.Sub(t.fell) >= riseEvery {
		t.set(min(t.rate*fallBy, t.full), now)
	}
	return max(t.paused.Sub(now), 0)
}

// part is what a purpose has of a rate, and how much of it it may save up.
func part(p int, perSecond float64) (rate.Limit, int) {
	rps := parts[p].share * perSecond
	return rate.Limit(rps), max(int(2*rps), 1)
}

// wait takes a turn for the purpose of ctx. The fault is market.Busy: its wait is
// over, or so many wait before it, or the host wants such a pause, that there is
// no sense in waiting.
func (t *turns) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return market.ErrUnavailable.Wrap(err)
	}
	p := market.PurposeOf(ctx)
	l, longest := &t.lanes[p], parts[p].wait
	t.mu.Lock()
	if rest := t.rest(); rest > 0 && longest > 0 && rest > longest {
		t.mu.Unlock()
		return market.Busy()
	}
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

// grant takes a token for a purpose. The token is that of the purpose itself, or, if no more urgent purpose has waiting requests,
// one of a purpose that has none and whose bucket is full. The caller holds the lock, also for the functions below.
func (t *turns) grant(p market.Purpose) bool {
	if t.rest() > 0 {
		return false
	}
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
	next = max(next, t.rest(), time.Millisecond)
	if t.timer == nil {
		t.timer = time.AfterFunc(next, t.serve)
		return
	}
	t.timer.Reset(next)
}
