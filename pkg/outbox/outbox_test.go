package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalcast/signalcast/pkg/outbox"
)

// memoryStore implements outbox.Store in memory.
type memoryStore struct {
	mu        sync.Mutex
	facts     []outbox.Fact
	sentFails bool // Sent fails
}

var errUnavailable = errors.New("unavailable")

func (b *memoryStore) Waiting(_ context.Context, limit int) ([]outbox.Fact, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.facts[:min(limit, len(b.facts))]), nil
}

func (b *memoryStore) Sent(_ context.Context, rowIDs []int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sentFails {
		return errUnavailable
	}
	b.facts = slices.DeleteFunc(b.facts, func(f outbox.Fact) bool { return slices.Contains(rowIDs, f.RowID) })
	return nil
}

// TestSender checks that all facts are sent in order, and that they are sent again until the receiver has accepted them
// and the outbox has deleted them.
func TestSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &memoryStore{sentFails: true}
		for i := range 450 {
			b.facts = append(b.facts, outbox.Fact{RowID: int64(i + 1)})
		}
		var sent []int64
		calls := 0
		s := outbox.Sender{Store: b, Log: slog.New(slog.DiscardHandler), Send: func(_ context.Context, facts []outbox.Fact) error {
			if calls++; calls <= 3 {
				return errUnavailable
			}
			if calls == 5 { // the first page was sent but not deleted
				b.sentFails = false
			}
			for _, f := range facts {
				sent = append(sent, f.RowID)
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if len(b.facts) != 0 || len(sent) != 650 || !slices.Equal(sent[:200], sent[200:400]) {
			t.Fatalf("%d facts in the outbox and %d sent; want 0, and 650 with the first page twice", len(b.facts), len(sent))
		}
		for i, rowID := range sent[200:] {
			if rowID != int64(i+1) {
				t.Fatalf("fact %d was sent at position %d", rowID, i)
			}
		}
	})
}
