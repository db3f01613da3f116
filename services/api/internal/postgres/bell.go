package postgres

import (
	"context"
	"sync"
	"time"
)

// ringEvery is the least time between two rings.
const ringEvery = 25 * time.Millisecond

// bell tells the relay, wherever it runs, that the outbox has something: at once
// after a quiet time, and at most once each ringEvery. A notification inside the
// filing's own transaction would make commits stand in line, one behind the other,
// and wake the relay for a handful of rows at a time. A ring that is lost with its
// process costs a second: the relay looks by itself then.
type bell struct {
	ring func(ctx context.Context) error

	mu      sync.Mutex
	ringing bool
	again   bool
	stop    chan struct{}
	wg      sync.WaitGroup
}

func newBell(ring func(ctx context.Context) error) *bell {
	return &bell{ring: ring, stop: make(chan struct{})}
}

// touch asks for a ring.
func (b *bell) touch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ringing {
		b.again = true
		return
	}
	b.ringing = true
	b.wg.Go(b.run)
}

func (b *bell) run() {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = b.ring(ctx) // the relay looks by itself, later
		cancel()
		t := time.NewTimer(ringEvery)
		select {
		case <-t.C:
		case <-b.stop:
			t.Stop()
		}
		if !b.goOn() {
			return
		}
	}
}

// goOn tells whether somebody asked meanwhile.
func (b *bell) goOn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.again {
		b.again = false
		return true
	}
	b.ringing = false
	return false
}

// close rings what was asked for and ends; touch is not called any more.
func (b *bell) close() {
	close(b.stop)
	b.wg.Wait()
}
