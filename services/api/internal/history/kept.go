package history

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
)

const (
	// maxKept bounds the answers that are held, because callers choose the keys.
	maxKept = 2000
	// readTimeout bounds one read; hold is the pause after one that failed.
	readTimeout = 5 * time.Second
	hold        = 3 * time.Second
)

// errLate is for a caller who could not wait, and for a service that ends.
var errLate = fault.New(fault.Unavailable, "venue_unavailable", "the market's venue cannot be reached")

// kept holds answers for a while and lets those who ask for the same share one
// read.
type kept struct {
	now  func() time.Time
	wait sync.WaitGroup
	life context.Context // of all reads
	end  context.CancelFunc

	mu     sync.Mutex // guards what follows
	all    map[string]*answer
	closed bool
}

type answer struct {
	done   chan struct{}
	points []Point
	err    error
	until  time.Time // zero while it is being read
}

func newKept(now func() time.Time) *kept {
	k := &kept{now: now, all: make(map[string]*answer)}
	k.life, k.end = context.WithCancel(context.Background())
	return k
}

func (k *kept) close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.end()
	k.wait.Wait()
}

// get gives the answer of a key, which read begins if none is held. The read
// outlives a caller that goes away.
func (k *kept) get(ctx context.Context, key string, keep time.Duration, read func(context.Context) ([]Point, error)) ([]Point, error) {
	a := k.find(ctx, key, keep, read)
	if a == nil {
		return nil, errLate
	}
	select {
	case <-a.done:
		return a.points, a.err
	case <-ctx.Done():
		return nil, errLate.Wrap(ctx.Err())
	}
}

func (k *kept) find(ctx context.Context, key string, keep time.Duration, read func(context.Context) ([]Point, error)) *answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if a := k.all[key]; a != nil && (a.until.IsZero() || now.Before(a.until)) {
		return a
	}
	if k.closed || !k.room(now) {
		return nil
	}
	a := &answer{done: make(chan struct{})}
	k.all[key] = a
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	stop := context.AfterFunc(k.life, cancel)
	k.wait.Go(func() {
		defer cancel()
		defer stop()
		points, err := read(ctx)
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = errLate.Wrap(err)
		}
		k.mu.Lock()
		a.points, a.err, a.until = points, err, k.now().Add(keep)
		if err != nil {
			a.until = k.now().Add(hold)
		}
		k.mu.Unlock()
		close(a.done)
	})
	return a
}

// room makes a place: what has run out goes, and all that is not being read if
// that is not enough. It is false where that many are being read.
func (k *kept) room(now time.Time) bool {
	if len(k.all) < maxKept {
		return true
	}
	maps.DeleteFunc(k.all, func(_ string, a *answer) bool { return !a.until.IsZero() && !now.Before(a.until) })
	if len(k.all) > maxKept/2 {
		maps.DeleteFunc(k.all, func(_ string, a *answer) bool { return !a.until.IsZero() })
	}
	return len(k.all) < maxKept
}
