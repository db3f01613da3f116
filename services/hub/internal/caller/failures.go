package caller

import (
	"sync"
	"time"
)

// MaxFailures is how many failures of one kind are taken in any minute.
const MaxFailures = 10

const (
	failureWindow = time.Minute
	maxFailing    = 1 << 14 // remembered in each generation
)

// Failures remembers failed credentials by who brought them: MaxFailures in any
// minute, then none from there is looked at, the right one neither. The logs live in
// two generations of bounded size: under an attack from very many addresses the
// oldest are forgotten, and each of those still has the limit per address.
type Failures[K comparable] struct {
	mu       sync.Mutex
	cur, old map[K][]time.Time // oldest first, at most MaxFailures
}

// NewFailures remembers nothing yet.
func NewFailures[K comparable]() *Failures[K] {
	return &Failures[K]{cur: make(map[K][]time.Time)}
}

// Wait is how long somebody has to stay away; zero means come in.
func (f *Failures[K]) Wait(who K, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log(who, now)
	if len(log) < MaxFailures {
		return 0
	}
	return log[0].Add(failureWindow).Sub(now)
}

// Note adds a failure.
func (f *Failures[K]) Note(who K, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := append(f.log(who, now), now)
	if len(f.cur) >= maxFailing {
		f.old, f.cur = f.cur, make(map[K][]time.Time)
	}
	f.cur[who] = log
}

func (f *Failures[K]) log(who K, now time.Time) []time.Time {
	log, ok := f.cur[who]
	if !ok {
		log = f.old[who]
	}
	for len(log) > 0 && (len(log) > MaxFailures || now.Sub(log[0]) >= failureWindow) {
		log = log[1:]
	}
	return log
}
