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

// box is an outbox in memory.
type box struct {
	mu    sync.Mutex
	facts []outbox.Fact
	stuck bool // what was sent cannot be taken out
}

var errAway = errors.New("away")

func (b *box) Waiting(_ context.Context, limit int) ([]outbox.Fact, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.facts[:min(limit, len(b.facts))]), nil
}

func (b *box) Sent(_ context.Context, places []int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stuck {
		return errAway
	}
	b.facts = slices.DeleteFunc(b.facts, func(f outbox.Fact) bool { return slices.Contains(places, f.Place) })
	return nil
}

// Everything is sent in order, and again until the other side has it and the outbox
// knows.
func TestSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &box{stuck: true}
		for i := range 450 {
			b.facts = append(b.facts, outbox.Fact{Place: int64(i + 1)})
		}
		var got []int64
		calls := 0
		s := outbox.Sender{Store: b, Log: slog.New(slog.DiscardHandler), Send: func(_ context.Context, facts []outbox.Fact) error {
			if calls++; calls <= 3 {
				return errAway
			}
			if calls == 5 { // the first was sent, and nobody could note it
				b.stuck = false
			}
			for _, f := range facts {
				got = append(got, f.Place)
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
		if len(b.facts) != 0 || len(got) != 650 || !slices.Equal(got[:200], got[200:400]) {
			t.Fatalf("%d wait, %d were sent", len(b.facts), len(got))
		}
		for i, place := range got[200:] {
			if place != int64(i+1) {
				t.Fatalf("%d comes at %d", place, i)
			}
		}
	})
}
