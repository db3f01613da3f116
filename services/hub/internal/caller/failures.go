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
// secret from there is looked at, the right one neither.
type failures struct {
	mu   sync.Mutex
	byIP map[string][]time.Time // oldest first, at most maxFailures
}

func newFailures() *failures {
	return &failures{byIP: make(map[string][]time.Time)}
}

// wait is how long the address has to stay away; zero means come in.
func (f *failures) wait(ip string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := recent(f.byIP[ip], now)
	if len(log) < maxFailures {
		return 0
	}
	return log[0].Add(failureWindow).Sub(now)
}

// note adds a failure. A full table forgets what has run out and then any
// one address: memory stays bounded under a spread attack, and each of its
// addresses still has to pass the limit per address.
func (f *failures) note(ip string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.byIP[ip]; !known && len(f.byIP) >= maxFailureAddrs {
		f.shrink(now)
	}
	f.byIP[ip] = append(recent(f.byIP[ip], now), now)
}

func (f *failures) shrink(now time.Time) {
	for ip, log := range f.byIP {
		if len(recent(log, now)) == 0 {
			delete(f.byIP, ip)
		}
	}
	for ip := range f.byIP {
		if len(f.byIP) < maxFailureAddrs {
			return
		}
		delete(f.byIP, ip)
	}
}

func recent(log []time.Time, now time.Time) []time.Time {
	for len(log) > 0 && (len(log) > maxFailures || now.Sub(log[0]) >= failureWindow) {
		log = log[1:]
	}
	return log
}
