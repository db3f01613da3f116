package history_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/history"
)

var errAway = errors.New("away")

// sources is a fake of the stored markets and of the venue.
type sources struct {
	books   map[protocol.MarketID]history.Book
	stored  []history.Point
	failed  error // error of the store
	venue   error
	asked   atomic.Int64
	from    time.Time
	release chan struct{} // the venue answers after this is closed; nil: immediately
}

func (s *sources) Book(_ context.Context, id protocol.MarketID) (history.Book, error) {
	b, ok := s.books[id]
	if !ok {
		return b, history.ErrUnknown
	}
	return b, nil
}

func (s *sources) Snapshots(_ context.Context, _ protocol.MarketID, from time.Time) ([]history.Point, error) {
	s.from = from
	return s.stored, s.failed
}

func (s *sources) History(ctx context.Context, b history.Book, i protocol.Interval) ([]history.Point, error) {
	n := s.asked.Add(1)
	if s.release != nil {
		select {
		case <-s.release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.venue != nil {
		return nil, s.venue
	}
	return []history.Point{{T: n, P: float64(len(b.TokenID)) / 10}}, nil
}

func setup(t *testing.T) (*sources, *history.Service, *testkit.Clock) {
	t.Helper()
	s := &sources{
		books: map[protocol.MarketID]history.Book{
			"1": {Provider: protocol.Polymarket, TokenID: "77"}, "2": {Provider: protocol.Polymarket},
			"native-aaaaaaaaaaaa": {Provider: protocol.Manual}, "lmt-x": {Provider: protocol.Limitless, TokenID: "5"},
		},
		stored: []history.Point{{T: 1000, P: 0.5}},
	}
	clock := testkit.NewClock(time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC))
	service := history.NewService(s, s, clock.Now)
	t.Cleanup(service.Close)
	return s, service, clock
}

func TestHistorySource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id            protocol.MarketID
		venue, failed error
		empty         bool
		want          string
	}{
		{"1", nil, nil, false, "[{1 0.2}] <nil>"},
		{"1", errAway, nil, false, "[] away"},
		{"1", errAway, nil, true, "[] away"},
		{"1", errAway, errors.New("no database"), false, "[] away"},
		{"2", nil, nil, false, "[] <nil>"},
		{"lmt-x", nil, nil, false, "[{1000 0.5}] <nil>"},
		{"native-aaaaaaaaaaaa", nil, errAway, true, "[] away"},
		{"999", nil, nil, false, "[] <nil>"},
	} {
		s, service, _ := setup(t)
		s.venue, s.failed = c.venue, c.failed
		if c.empty || c.failed != nil {
			s.stored = nil
		}
		points, err := service.ByMarket(t.Context(), c.id, protocol.IntervalDay)
		if got := fmt.Sprint(points, " ", err); got != c.want {
			t.Errorf("%s: %s, want %s", c.id, got, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s, service, _ := setup(t)
	if points, err := service.ByToken(t.Context(), "123", protocol.IntervalDay); err != nil || len(points) != 1 || points[0].P != 0.3 {
		t.Error(points, err)
	}
	for _, token := range []string{"", "abc", "../x", "1\x00", "１", string(make([]byte, 81))} {
		if points, err := service.ByToken(t.Context(), token, protocol.IntervalDay); err != nil || len(points) != 0 {
			t.Errorf("history of invalid token %q: %v %v", token, points, err)
		}
	}
	if n := s.asked.Load(); n != 1 {
		t.Errorf("the venue received %d requests", n)
	}
}

// TestAnswersAreCached checks that a history is cached for the time of its interval, and that a failed read is not repeated
// for a short time.
func TestAnswersAreCached(t *testing.T) {
	t.Parallel()
	for interval, keep := range map[protocol.Interval]time.Duration{
		protocol.IntervalHour: 30 * time.Second, protocol.IntervalDay: time.Minute, protocol.IntervalWeek: 5 * time.Minute, protocol.IntervalAll: 15 * time.Minute,
	} {
		s, service, clock := setup(t)
		ask := func() int64 {
			if _, err := service.ByMarket(t.Context(), "1", interval); err != nil && s.venue == nil {
				t.Error(err)
			}
			return s.asked.Load()
		}
		ask()
		clock.Advance(keep - time.Millisecond)
		if n := ask(); n != 1 {
			t.Errorf("%s: %d requests within %s", interval, n, keep)
		}
		clock.Advance(time.Millisecond)
		if n := ask(); n != 2 {
			t.Errorf("%s: %d requests after %s", interval, n, keep)
		}
		s.venue, s.stored = errAway, nil
		clock.Advance(keep)
		ask()
		clock.Advance(time.Second)
		if n := ask(); n != 3 {
			t.Errorf("%s: %d requests, one of which failed", interval, n)
		}
		clock.Advance(3 * time.Second)
		if n := ask(); n != 4 {
			t.Errorf("%s: a failure is cached too long", interval)
		}
	}
	s, service, clock := setup(t)
	for interval, back := range map[protocol.Interval]time.Duration{protocol.IntervalHour: time.Hour, protocol.IntervalDay: 24 * time.Hour, protocol.IntervalWeek: 168 * time.Hour} {
		if _, err := service.ByMarket(t.Context(), "lmt-x", interval); err != nil || clock.Now().Sub(s.from) != back {
			t.Errorf("%s starts at %v, %v", interval, s.from, err)
		}
	}
}

// TestConcurrentReadersShareARead checks that 50 concurrent readers cause one request, and that a canceled reader does not
// cancel it. The number of cache entries must be bounded.
func TestConcurrentReadersShareARead(t *testing.T) {
	t.Parallel()
	s, service, _ := setup(t)
	s.release = make(chan struct{})
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := service.ByToken(gone, "7", protocol.IntervalDay); err == nil {
		t.Error("the canceled reader got an answer")
	}
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if points, err := service.ByToken(t.Context(), "7", protocol.IntervalDay); err != nil || len(points) != 1 {
				t.Error(points, err)
			}
		})
	}
	close(s.release)
	wait.Wait()
	if n := s.asked.Load(); n != 1 {
		t.Errorf("the venue received %d requests; want 1", n)
	}
	for i := range 5000 {
		if _, err := service.ByToken(t.Context(), fmt.Sprint(i+100), protocol.IntervalDay); err != nil {
			t.Fatal(err)
		}
	}
	if n := service.Cached(); n > 2000 {
		t.Errorf("the cache has %d entries", n)
	}
}
