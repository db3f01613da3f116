package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// TestAbandonedCallsAreNotFiled checks that a call whose caller no longer waits is not written.
func TestAbandonedCallsAreNotFiled(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	written := map[string]bool{}
	held, begun := make(chan struct{}), make(chan struct{}, writers+2)
	c := newFilings(func(_ context.Context, batch []*filing) ([]*filing, error) {
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
		if c.Add(f) != 1 {
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
	c.Close()
	if written["gone"] || !written["stays"] || len(written) != 2 {
		t.Fatal(written)
	}
	if c.Len() != 0 {
		t.Fatalf("%d calls wait", c.Len())
	}
}
