package caller

import (
	"context"
	"sync"
	"time"
)

// MaxFailures is how many failures of one kind are taken in any minute.
const MaxFailures = 10

const (
	failureWindow = time.Minute
	maxFailing    = 1 << 14 // remembered in each generation
)

// Failures counts failed credentials by who brought them: MaxFailures in any minute,
// then none from there is looked at, the right one neither. It never fails.
type Failures interface {
	// Wait is how long somebody has to stay away; zero means come in.
	Wait(ctx context.Context, who string) time.Duration
	// Failed adds a failure. More than zero: others came in between and filled the
	// minute, and this one is answered like those after it.
	Failed(ctx context.Context, who string) time.Duration
}

// LocalFailures counts in this process alone. The logs live in two generations of
// bounded size: under an attack from very many addresses the oldest are forgotten, and
// each of those still has the limit per address.
type LocalFailures struct {
	now func() time.Time

	mu       sync.Mutex
	cur, old map[string][]time.Time // oldest first, at most MaxFailures
}

// NewLocalFailures remembers nothing yet.
func NewLocalFailures(now func() time.Time) *LocalFailures {
	return &LocalFailures{now: now, cur: make(map[string][]time.Time)}
}

// Wait implements Failures.
func (f *LocalFailures) Wait(_ context.Context, who string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	return remaining(f.log(who, now), now)
}

// Failed implements Failures.
func (f *LocalFailures) Failed(_ context.Context, who string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	log := f.log(who, now)
	if wait := remaining(log, now); wait > 0 {
		return wait
	}
	if len(f.cur) >= maxFailing {
		f.old, f.cur = f.cur, make(map[string][]time.Time)
	}
	f.cur[who] = append(log, now)
	return 0
}

func remaining(log []time.Time, now time.Time) time.Duration {
	if len(log) < MaxFailures {
		return 0
	}
	return log[0].Add(failureWindow).Sub(now)
}

func (f *LocalFailures) log(who string, now time.Time) []time.Time {
	log, ok := f.cur[who]
	if !ok {
		log = f.old[who]
	}
	for len(log) > 0 && now.Sub(log[0]) >= failureWindow {
		log = log[1:]
	}
	return log
}
