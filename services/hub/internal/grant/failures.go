package grant

import (
	"context"
	"sync"
	"time"
)

// MaxFailures is how many failed client authentications in any minute are taken
// from one address for one client.
const MaxFailures = 10

const (
	failureWindow = time.Minute
	maxAttempts   = 1 << 14 // remembered in each generation
)

// Attempt is a client authentication from somewhere. Client and address count
// together: who knows a client's id cannot lock that client out from elsewhere.
type Attempt struct{ Client, IP string }

// Failures counts failed client authentications.
type Failures interface {
	// Wait is how long the client has to stay away; zero means come in.
	Wait(ctx context.Context, a Attempt) time.Duration
	// Failed adds a failure.
	Failed(ctx context.Context, a Attempt)
}

// LocalFailures counts them in this process: at most MaxFailures in any minute. Its
// memory is two generations of bounded size; under an attack from very many
// addresses the oldest are forgotten, and each of those has the limit per address.
type LocalFailures struct {
	mu       sync.Mutex
	cur, old map[Attempt][]time.Time // oldest first
	now      func() time.Time
}

// NewLocalFailures makes an empty count.
func NewLocalFailures(now func() time.Time) *LocalFailures {
	return &LocalFailures{cur: make(map[Attempt][]time.Time), now: now}
}

// Wait implements Failures.
func (f *LocalFailures) Wait(_ context.Context, a Attempt) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	log := f.log(a, now)
	if len(log) < MaxFailures {
		return 0
	}
	return log[0].Add(failureWindow).Sub(now)
}

// Failed implements Failures.
func (f *LocalFailures) Failed(_ context.Context, a Attempt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	log := append(f.log(a, now), now)
	if len(f.cur) >= maxAttempts {
		f.old, f.cur = f.cur, make(map[Attempt][]time.Time)
	}
	f.cur[a] = log
}

func (f *LocalFailures) log(a Attempt, now time.Time) []time.Time {
	log, ok := f.cur[a]
	if !ok {
		log = f.old[a]
	}
	for len(log) > 0 && (len(log) > MaxFailures || now.Sub(log[0]) >= failureWindow) {
		log = log[1:]
	}
	return log
}
