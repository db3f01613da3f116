package pages

import (
	"context"
	"sync"
	"time"

	"github.com/signalcast/signalcast/pkg/web"
)

// Bounds of what pages keep of dear reads.
const (
	keptFor    = 10 * time.Second
	keptMost   = 512
	keptWithin = 5 * time.Second // of one read; it goes on when its reader has left
)

// kept are values that cost much to read, by key: each is read once at a time and shown
// for a while. A read that takes longer than a page waits is there for the next one.
type kept[T any] struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[string]*keptOne[T]
}

type keptOne[T any] struct {
	done  chan struct{}
	value T
	err   error
	at    time.Time // when it was there
}

func newKept[T any](now func() time.Time) *kept[T] {
	return &kept[T]{now: now, byID: map[string]*keptOne[T]{}}
}

// get gives the value of a key. Faults: those of read, and
// that of an answer that takes too long.
func (k *kept[T]) get(ctx context.Context, key string, read func(context.Context) (T, error)) (T, error) {
	one := k.find(ctx, key, read)
	select {
	case <-one.done:
		return one.value, one.err
	case <-ctx.Done():
		var none T
		return none, web.ErrTimeout.Wrap(context.Cause(ctx))
	}
}

// find is the value that is there or on its way.
func (k *kept[T]) find(ctx context.Context, key string, read func(context.Context) (T, error)) *keptOne[T] {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one := k.byID[key]; one != nil && (one.at.IsZero() || k.now().Sub(one.at) < keptFor) {
		return one
	}
	k.makeRoom()
	one := &keptOne[T]{done: make(chan struct{})}
	k.byID[key] = one
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keptWithin)
		defer cancel()
		value, err := safely(ctx, read)
		k.mu.Lock()
		defer k.mu.Unlock()
		one.value, one.err, one.at = value, err, k.now()
		if err != nil && k.byID[key] == one {
			delete(k.byID, key) // the next one tries again
		}
		close(one.done)
	}()
	return one
}

// makeRoom drops what is old, and when nothing is old something.
func (k *kept[T]) makeRoom() {
	if len(k.byID) < keptMost {
		return
	}
	for key, one := range k.byID {
		if !one.at.IsZero() && k.now().Sub(one.at) >= keptFor {
			delete(k.byID, key)
		}
	}
	for key := range k.byID {
		if len(k.byID) < keptMost {
			return
		}
		delete(k.byID, key)
	}
}
