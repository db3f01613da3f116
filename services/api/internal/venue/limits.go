package venue

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signalcast/signalcast/services/api/internal/market"
)

// maxWaiting is the largest number of requests of one purpose that may wait for the rate limit.
const maxWaiting = 64

// shares divides the request rate of a host among the purposes. wait is the longest time that a request of a purpose waits
// for the rate limit; with 0 it waits until its context ends. A filing has one second for its venue, so its request must
// fail early if it cannot be sent.
var shares = [market.Purposes]struct {
	share float64 // share of the rate; the sum is 1
	wait  time.Duration
}{
	market.ForReader:    {0.15, time.Second},
	market.ForWatch:     {0.1, 2 * time.Second},
	market.ForCatalogue: {0.25, 0},
	market.ForConfirm:   {0.1, 4 * time.Second},
	market.ForFiling:    {0.4, 750 * time.Millisecond},
}

// Steps and intervals with which the request rate of a host falls after status 429, and rises again.
const (
	fallBy    = 2
	maxFall   = 16               // the rate never falls below a sixteenth of the configured rate
	fallEvery = time.Second      // shortest time between two decreases, because concurrent requests are refused together
	riseEvery = 30 * time.Second // the rate rises by one step if the host has not responded with status 429 for this time
)

// limits is the rate limit for one host. Each purpose has a token bucket, and the rates of all buckets add up to the rate of
// the host. If the bucket of a purpose is full, another waiting request may use its token; the most urgent one comes first.
type limits struct {
	full float64
	now  func() time.Time

	mu      sync.Mutex
	rate    float64
	changed time.Time // time of the last change of rate
	paused  time.Time // no request is sent before this time
	lanes   [market.Purposes]lane
	timer   *time.Timer
}

type lane struct {
	bucket *rate.Limiter
	queue  []chan struct{} // in order of arrival; a channel is closed when its request may be sent
}

func newLimits(perSecond float64, now func() time.Time) *limits {
	t := &limits{full: perSecond, rate: perSecond, now: now}
	for p := range t.lanes {
		t.lanes[p].bucket = rate.NewLimiter(part(p, perSecond))
	}
	return t
}

// slow reacts to status 429 of the host. It pauses all requests for at least the given time. If the rate has not changed
// within fallEvery, it also lowers the rate and discards unused tokens.
func (t *limits) slow(pause time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if until := now.Add(pause); until.After(t.paused) {
		t.paused = until
	}
	if now.Sub(t.changed) < fallEvery {
		return
	}
	t.set(max(t.rate/fallBy, t.full/maxFall), now)
	for p := range t.lanes {
		for b := t.lanes[p].bucket; b.Allow(); {
			continue
		}
	}
}

// set sets the total rate of all buckets to rps requests per second. The caller must hold t.mu.
func (t *limits) set(rps float64, now time.Time) {
	t.rate, t.changed = rps, now
	for p := range t.lanes {
		limit, burst := part(p, rps)
		t.lanes[p].bucket.SetLimit(limit)
		t.lanes[p].bucket.SetBurst(burst)
	}
}

// remainingPause returns the remaining time in which no request may be sent. It also raises the rate if riseEvery has passed
// since the last change. The caller must hold t.mu.
func (t *limits) remainingPause() time.Duration {
	now := t.now()
	if t.rate < t.full && now.Sub(t.changed) >= riseEvery {
		t.set(min(t.rate*fallBy, t.full), now)
	}
	return max(t.paused.Sub(now), 0)
}

// part returns the rate and the burst of the token bucket of purpose p, for a host limit of perSecond requests per second.
// The burst is two seconds of that rate, at least 1.
func part(p int, perSecond float64) (rate.Limit, int) {
	rps := shares[p].share * perSecond
	return rate.Limit(rps), max(int(2*rps), 1)
}

// wait waits until a request with the purpose of ctx may be sent. It returns market.Busy() when ctx ends or the longest wait
// of the purpose has passed. It returns market.Busy() at once if the queue is full, or if the queue or the pause of the host
// would take longer than that wait. If ctx has already ended, it returns market.ErrUnavailable.
func (t *limits) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return market.ErrUnavailable.Wrap(err)
	}
	p := market.PurposeOf(ctx)
	l, longest := &t.lanes[p], shares[p].wait
	t.mu.Lock()
	if rest := t.remainingPause(); rest > 0 && longest > 0 && rest > longest {
		t.mu.Unlock()
		return market.Busy()
	}
	if len(l.queue) == 0 && t.grant(p) {
		t.mu.Unlock()
		return nil
	}
	ahead := len(l.queue) + 1
	if ahead > maxWaiting || longest > 0 && float64(ahead) > max(t.rate*longest.Seconds(), 1) {
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
		return nil // the request was admitted at the same moment
	}
	l.queue = slices.Delete(l.queue, at, at+1)
	return market.Busy()
}

// grant takes a token for a request of the purpose p and reports whether it got one. It gets none while the host is paused.
// It takes the token from the bucket of p. If that bucket is empty and no more urgent request waits, it takes a token from a
// full bucket of a purpose without waiting requests. The caller must hold t.mu.
func (t *limits) grant(p market.Purpose) bool {
	if t.remainingPause() > 0 {
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

// serve admits waiting requests while tokens are left, the most urgent purpose first. It locks t.mu.
func (t *limits) serve() {
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

// schedule sets the timer for the next call of serve to the time of the next token. It does nothing if no request waits. The
// caller must hold t.mu.
func (t *limits) schedule() {
	waiting, next := false, time.Second
	for p := range t.lanes {
		l := &t.lanes[p]
		wanted := float64(l.bucket.Burst()) // a full bucket lends its tokens
		if len(l.queue) > 0 {
			waiting, wanted = true, 1
		}
		missing := max(wanted-l.bucket.Tokens(), 0) / float64(l.bucket.Limit())
		next = min(next, time.Duration(missing*float64(time.Second)))
	}
	if !waiting {
		return
	}
	next = max(next, t.remainingPause(), time.Millisecond)
	if t.timer == nil {
		t.timer = time.AfterFunc(next, t.serve)
		return
	}
	t.timer.Reset(next)
}
