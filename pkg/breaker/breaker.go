package breaker

import (
	"sync"
	"time"
)

// Outcome is the result of a call to the dependency, as reported to Breaker.Leave.
type Outcome int

// Outcomes of a call to the dependency.
const (
	Success Outcome = iota
	Failure         // the dependency failed
	Neither         // no information about the dependency: the caller canceled, or a limit rejected the call
)

// Config contains the thresholds and callbacks of a Breaker. All fields except OnChange are required.
type Config struct {
	Failures int              // number of consecutive failures that opens the breaker
	Rest     time.Duration    // time from the last failure to the next probe
	Now      func() time.Time // current time
	OnChange func(open bool)  // called after the breaker opened or closed; may be nil
}

// Breaker counts consecutive failures of one dependency. It is open while the count is at least Config.Failures, and
// then admits only probes.
type Breaker struct {
	cfg Config

	mu      sync.Mutex
	failed  int
	restEnd time.Time
	probing bool
}

// New returns a closed breaker.
func New(cfg Config) *Breaker {
	return &Breaker{cfg: cfg}
}

// Open reports whether the breaker is open. It is open after at least Config.Failures consecutive failures.
func (b *Breaker) Open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open()
}

func (b *Breaker) open() bool { return b.failed >= b.cfg.Failures }

// Refuses reports whether Enter would return false now. It does not admit a call.
func (b *Breaker) Refuses() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refuses()
}

func (b *Breaker) refuses() bool {
	return b.open() && (b.probing || b.cfg.Now().Before(b.restEnd))
}

// Enter reports whether a call to the dependency is admitted. A closed breaker admits every call. An open one admits one probe at
// a time, and only when Config.Rest has passed since the last failure. After each admitted call, the caller must call Leave.
func (b *Breaker) Enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuses() {
		return false
	}
	b.probing = b.open()
	return true
}

// Leave records the outcome of an admitted call. Success closes the breaker, and Failure increases the count of failures. The
// outcome Neither leaves the count unchanged. If the breaker has opened or closed, Leave calls Config.OnChange.
func (b *Breaker) Leave(o Outcome) {
	b.mu.Lock()
	wasOpen := b.open()
	b.probing = false
	switch o {
	case Success:
		b.failed = 0
	case Failure:
		b.failed++
		b.restEnd = b.cfg.Now().Add(b.cfg.Rest)
	case Neither:
	}
	open := b.open()
	b.mu.Unlock()
	if open != wasOpen && b.cfg.OnChange != nil {
		b.cfg.OnChange(open)
	}
}
