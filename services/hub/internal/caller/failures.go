package caller

import (
	"sync"
	"time"
)

const (
	maxFailures     = 10
	failureWindow   = time.Minute
	maxFailureAddrs = 1 << 14
)

// failures remembers wrong secrets by address: ten in any minute, then no
// secret from there is looked at, the right one neither. The logs live in two
// generations of bounded size: under an attack from very many addresses the
// oldest are forgotten, and each of those still has the limit per address.
type failures struct {
	mu       sync.Mutex
	cur, old map[string][]time.Time // oldest first, at most maxFailures
}

func newFailures() *failures {
	return &failures{cur: make(map[string][]time.Time)}
}

// wait is how long the address has to stay away; zero means come in.
func (f *failures) wait(ip string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log(ip, now)
	if len(log) < maxFailures {
		return 0
	}
	return log[0].Add(failureWindow).Sub(now)
}

// note adds a failure.
func (f *failures) note(ip string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := append(f.log(ip, now), now)
	if len(f.cur) >= maxFailureAddrs {
		f.old, f.cur = f.cur, make(map[string][]time.Time)
	}
	f.cur[ip] = log
}

func (f *failures) log(ip string, now time.Time) []time.Time {
	log, ok := f.cur[ip]
	if !ok {
		log = f.old[ip]
	}
	for len(log) > 0 && (len(log) > maxFailures || now.Sub(log[0]) >= failureWindow) {
		log = log[1:]
	}
	return log
}
