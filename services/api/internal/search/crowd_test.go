package search_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/search"
)

// counted is a store that counts the reads of sentiments. Each read waits until the test allows it to continue.
type counted struct {
	search.Store
	open  chan error
	reads atomic.Int64
}

func (c *counted) GetSentiment(context.Context, protocol.MarketID, time.Time) (search.Sentiment, error) {
	n := c.reads.Add(1)
	return search.Sentiment{Yes: n}, <-c.open
}

// TestSentimentIsReadOnce checks that concurrent and later requests for the sentiment of one market cause one read in two
// seconds.
func TestSentimentIsReadOnce(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	clock, c := testkit.NewClock(noon), &counted{open: make(chan error)}
	s := search.NewService(c, clock.Now)
	var wait sync.WaitGroup
	left, leave := context.WithCancel(t.Context())
	leave()
	for range 50 {
		wait.Go(func() {
			if got, err := s.Sentiment(t.Context(), "1"); err != nil || got.Yes != 1 || !got.UpdatedAt.Equal(noon) {
				t.Errorf("shared read: %+v %v", got, err)
			}
		})
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return c.reads.Load() == 1 })
	if _, err := s.Sentiment(left, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("request of a canceled caller: %v", err)
	}
	c.open <- nil
	wait.Wait()
	ask := func(id protocol.MarketID, want int64) {
		t.Helper()
		if got, err := s.Sentiment(t.Context(), id); err != nil || got.Yes != want {
			t.Errorf("%s: %d, %v; want %d", id, got.Yes, err, want)
		}
	}
	clock.Advance(2*time.Second - 1)
	ask("1", 1)
	close(c.open)
	clock.Advance(1)
	ask("1", 2)
	ask("2", 3)
	ask("2", 3)
	if n := c.reads.Load(); n != 3 {
		t.Errorf("%d reads, want 3", n)
	}
}

// TestSentimentThatCannotBeRead checks that a failed read of a sentiment is not cached.
func TestSentimentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := &counted{open: make(chan error, 2)}
	c.open <- errors.New("away")
	c.open <- nil
	s := search.NewService(c, time.Now)
	if _, err := s.Sentiment(t.Context(), "1"); err == nil {
		t.Error("a failed read returned no error")
	}
	if got, err := s.Sentiment(t.Context(), "1"); err != nil || got.Yes != 2 {
		t.Errorf("read after a failure: %+v %v", got, err)
	}
}
