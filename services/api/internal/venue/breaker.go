package venue

import (
	"sync"
	"time"
)

// A host that failed this many times in a row is left alone for a while; then
// one request may try it again.
const (
	breakAfter = 5
	restFor    = 1500 * time.Millisecond
)

// breaker keeps callers from waiting for a host that does not answer.
type breaker struct {
	now func() time.Time

	mu      sync.Mutex
	failed  int
	until   time.Time
	probing bool
}

// rests says whether enter would refuse now.
func (b *breaker) rests() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.resting()
}

func (b *breaker) resting() bool {
	return b.failed >= breakAfter && (b.probing || b.now().Before(b.until))
}

// enter says whether a request may go out; each that may must be followed by
// leave.
func (b *breaker) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.resting() {
		return false
	}
	b.probing = b.failed >= breakAfter
	return true
}

// outcome of a request as the breaker sees it.
type outcome int

const (
	good    outcome = iota
	failure         // the host's fault
	neither         // the caller gave up: says nothing about the host
)

func (b *breaker) leave(o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	switch o {
	case good:
		b.failed = 0
	case failure:
		if b.failed++; b.failed >= breakAfter {
			b.until = b.now().Add(restFor)
		}
	case neither:
	}
}
