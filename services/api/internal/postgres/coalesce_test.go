package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// C10: what nobody waits for any more is not written.
func TestCallersWhoLeftAreNotFiled(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	written := map[string]bool{}
	held, begun := make(chan struct{}), make(chan struct{}, filers+2)
	c := newCoalescer(func(_ context.Context, batch []*filing) ([]*filing, error) {
		mu.Lock()
		for _, f := range batch {
			written[f.draft.ID] = true
		}
		mu.Unlock()
		begun <- struct{}{}
		<-held
		return batch, nil
	})
	file := func(id string) *filing {
		f := newFiling(signal.Call{Draft: signal.Draft{ID: id}})
		if c.add(f) != 1 {
			t.Fatal("refused")
		}
		return f
	}
	first := file("first")
	<-begun
	gone, stays := file("gone"), file("stays")
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gone.wait(left); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(held)
	for _, f := range []*filing{first, stays} {
		if _, err := f.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.close()
	if written["gone"] || !written["stays"] || len(written) != 2 {
		t.Fatal(written)
	}
	if c.length() != 0 {
		t.Fatalf("%d wait", c.length())
	}
}

// A second worker starts when more waits than one statement takes, and not before:
// one that takes a few more at a time costs less than two that take fewer each.
func TestWorkersFollowTheQueue(t *testing.T) {
	t.Parallel()
	held, begun := make(chan struct{}), make(chan int, 4)
	c := newCoalescer(func(_ context.Context, batch []*filing) ([]*filing, error) {
		begun <- len(batch)
		<-held
		return batch, nil
	})
	add := func(n int) {
		for range n {
			if c.add(newFiling(signal.Call{Draft: signal.Draft{ID: uuid.NewString()}})) != 1 {
				t.Fatal("refused")
			}
		}
	}
	add(1)
	if n := <-begun; n != 1 {
		t.Fatalf("the first took %d", n)
	}
	add(maxBatch)
	c.mu.Lock()
	workers := c.workers
	c.mu.Unlock()
	if workers != 1 {
		t.Fatalf("%d workers for one batch", workers)
	}
	add(1)
	if n := <-begun; n != maxBatch {
		t.Fatalf("the second took %d", n)
	}
	close(held)
	c.close()
}
