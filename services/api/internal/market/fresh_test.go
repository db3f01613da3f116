package market_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// applied is a store that records the markets of the answers that it stores.
type applied struct {
	emptyStore
	mu  sync.Mutex
	ids []string
}

func (a *applied) ApplyRecords(_ context.Context, records []market.Record, _ bool, _ time.Time) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range records {
		a.ids = append(a.ids, string(records[i].ID)+":"+string(records[i].Status))
	}
	return len(records), nil
}

func (a *applied) take() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.ids)
	out := strings.Join(a.ids, " ")
	a.ids = nil
	return out
}

// slow is a venue that answers after a delay. It never answers for markets in hang, omits markets in closed from Quote, and
// returns ErrNotFound for markets in denied.
type slow struct {
	market.Venue
	takes                time.Duration
	hang, closed, denied map[protocol.MarketID]bool
	fails                error

	mu       sync.Mutex
	requests []string
}

func (v *slow) request(ctx context.Context, ids ...protocol.MarketID) error {
	v.mu.Lock()
	v.requests = append(v.requests, fmt.Sprint(ids))
	v.mu.Unlock()
	for _, id := range ids {
		if v.hang[id] {
			<-ctx.Done()
		}
	}
	select {
	case <-time.After(v.takes):
		return v.fails
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *slow) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := v.requests
	v.requests = nil
	return out
}

func (v *slow) record(id protocol.MarketID) market.Record {
	r := market.Record{ID: id, Title: "x", Status: protocol.MarketOpen, FetchedAt: time.Now()}
	if v.closed[id] {
		r.Status = protocol.MarketClosed
	}
	return r
}

func (v *slow) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	if err := v.request(ctx, id); err != nil {
		return market.Record{}, err
	}
	if v.denied[id] {
		return market.Record{}, market.ErrNotFound
	}
	return v.record(id), nil
}

func (v *slow) Quote(ctx context.Context, ids []protocol.MarketID) ([]market.Record, error) {
	if err := v.request(ctx, ids...); err != nil {
		return nil, err
	}
	var out []market.Record
	for _, id := range ids {
		if !v.closed[id] && !v.denied[id] {
			out = append(out, v.record(id))
		}
	}
	return out, nil
}

// fresh runs a test of Service.Fresh with fake time in a synctest bubble.
func fresh(t *testing.T, test func(t *testing.T, s *market.Service, v *slow, store *applied)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, store := &slow{takes: 100 * time.Millisecond}, &applied{}
		classify := market.Classify{
			Lane:     func(string, []string) protocol.Lane { return protocol.LaneScience },
			Category: func(protocol.Lane, string, []string) string { return "" },
		}
		s := market.NewService(store, market.Venues{protocol.Polymarket: v, protocol.Kalshi: &slow{takes: time.Millisecond}}, classify, true, time.Now)
		test(t, s, v, store)
		s.Close()
	})
}

// TestCallsOnOneMarketShareARead checks that concurrent calls on one market cause one request to the venue.
func TestCallsOnOneMarketShareARead(t *testing.T) {
	fresh(t, func(t *testing.T, s *market.Service, v *slow, store *applied) {
		var wait sync.WaitGroup
		for i := range 200 {
			wait.Go(func() {
				if err := s.Fresh(t.Context(), "7", fmt.Sprint("op", i)); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if got := fmt.Sprint(v.take()) + store.take(); got != "[[7]]7:open" {
			t.Errorf("requests and answers: %s", got)
		}
	})
}

// TestWaitingReadsAreJoined checks that reads of one venue that wait at the same time share a request. Markets that the
// shared answer omits are read one by one.
func TestWaitingReadsAreJoined(t *testing.T) {
	fresh(t, func(t *testing.T, s *market.Service, v *slow, store *applied) {
		v.closed = map[protocol.MarketID]bool{"5": true}
		v.denied = map[protocol.MarketID]bool{"6": true}
		errs := make([]error, 8)
		var wait sync.WaitGroup
		for i := range errs {
			wait.Go(func() { errs[i] = s.Fresh(t.Context(), protocol.MarketID(fmt.Sprint(1+i)), fmt.Sprint("op", i)) })
			synctest.Wait()
		}
		wait.Wait()
		if got := v.take(); len(got) != 5 || fmt.Sprint(got[:3]) != "[[1] [2] [3 4 5 6 7 8]]" {
			t.Errorf("requests: %v", got)
		}
		for i, err := range errs {
			if (i == 5) != errors.Is(err, market.ErrNotFound) || i != 5 && err != nil {
				t.Errorf("market %d: %v", 1+i, err)
			}
		}
		if got := store.take(); got != "1:open 2:open 3:open 4:open 5:closed 7:open 8:open" {
			t.Errorf("applied %s", got)
		}
		// The answer that the market does not exist is cached.
		if err := s.Fresh(t.Context(), "6", "op"); !errors.Is(err, market.ErrNotFound) || len(v.take()) != 0 {
			t.Errorf("second read of a market that the venue does not have: %v", err)
		}
	})
}

// TestHangingMarketDelaysNoOther checks that a market without an answer delays the reads of other markets of its venue by
// 250 ms. It does not delay other venues.
func TestHangingMarketDelaysNoOther(t *testing.T) {
	fresh(t, func(t *testing.T, s *market.Service, v *slow, _ *applied) {
		v.hang = map[protocol.MarketID]bool{}
		var wait sync.WaitGroup
		began := time.Now()
		for i := range 10 {
			id := protocol.MarketID(fmt.Sprint(100 + i))
			v.hang[id] = true
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 1250*time.Millisecond)
				defer cancel()
				if err := s.Fresh(ctx, id, string(id)); !errors.Is(err, market.ErrUnavailable) || time.Since(began) != 1250*time.Millisecond {
					t.Errorf("%s: %v after %v", id, err, time.Since(began))
				}
			})
			synctest.Wait()
		}
		if err := s.Fresh(t.Context(), "kalshi-X", "op"); err != nil || time.Since(began) > time.Millisecond {
			t.Errorf("another venue: %v after %v", err, time.Since(began))
		}
		time.Sleep(500 * time.Millisecond)
		again := time.Now()
		if err := s.Fresh(t.Context(), "7", "op"); err != nil || time.Since(again) > 400*time.Millisecond {
			t.Errorf("another market: %v after %v", err, time.Since(again))
		}
		wait.Wait()
	})
}

// TestReadsOfOneOperatorAreBounded checks that the calls of one operator cause at most 20 reads of one venue in a minute and
// wait for at most two at a time. Other operators are not affected.
func TestReadsOfOneOperatorAreBounded(t *testing.T) {
	fresh(t, func(t *testing.T, s *market.Service, v *slow, _ *applied) {
		var wait sync.WaitGroup
		for i := range 2 {
			wait.Go(func() { _ = s.Fresh(t.Context(), protocol.MarketID(fmt.Sprint(i)), "op") })
			synctest.Wait() // reads that wait together would share one request
		}
		began := time.Now()
		if err := s.Fresh(t.Context(), "2", "op"); !errors.Is(err, market.ErrUnavailable) || time.Since(began) != 0 {
			t.Errorf("third concurrent read: %v after %v", err, time.Since(began))
		}
		if err := s.Fresh(t.Context(), "0", "op"); err != nil {
			t.Errorf("a read in progress: %v", err)
		}
		wait.Wait()
		for i := range 30 {
			if err := s.Fresh(t.Context(), protocol.MarketID(fmt.Sprint(10+i)), "op"); (err == nil) != (i < 18) {
				t.Errorf("read %d of the minute: %v", i+3, err)
			}
		}
		if n := len(v.take()); n != 20 {
			t.Errorf("the venue received %d requests", n)
		}
		if err := s.Fresh(t.Context(), "50", "other"); err != nil {
			t.Errorf("another operator: %v", err)
		}
		if err := s.Fresh(t.Context(), "kalshi-X", "op"); err != nil {
			t.Errorf("another venue: %v", err)
		}
		time.Sleep(time.Minute)
		if err := s.Fresh(t.Context(), "60", "op"); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

func TestFailedReads(t *testing.T) {
	fresh(t, func(t *testing.T, s *market.Service, v *slow, store *applied) {
		v.fails = errors.New("status 429")
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				if err := s.Fresh(t.Context(), protocol.MarketID(fmt.Sprint(i)), fmt.Sprint(i)); err == nil || errors.Is(err, market.ErrNotFound) {
					t.Errorf("read of market %d: %v", i, err)
				}
			})
		}
		wait.Wait()
		if err := s.Fresh(t.Context(), "manifold-x", "op"); !errors.Is(err, market.ErrUnavailable) {
			t.Errorf("read of a venue that is not connected: %v", err)
		}
		if got := store.take(); got != "" {
			t.Errorf("stored answers: %s; want none", got)
		}
		s.Close()
		if err := s.Fresh(t.Context(), "9", "op"); !errors.Is(err, market.ErrUnavailable) {
			t.Errorf("read after Close: %v", err)
		}
	})
}

// TestCalledMarketsAreRefreshed checks that Warm refreshes a market with a call in the last minute when its quote is older
// than a third of the maximum age. All such markets of one venue share a request.
func TestCalledMarketsAreRefreshed(t *testing.T) {
	fresh(t, func(t *testing.T, s *market.Service, v *slow, store *applied) {
		v.takes = time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		quoted := time.Now()
		s.Called("1", &quoted)
		s.Called("2", &quoted)
		s.Called("manifold-x", &quoted) // a venue that is not connected
		go s.Warm(ctx, 15*time.Second)
		time.Sleep(4 * time.Second)
		if got := v.take(); len(got) != 0 {
			t.Errorf("requests while the quotes are fresh: %v; want none", got)
		}
		time.Sleep(4 * time.Second)
		if got := v.take(); len(got) != 1 || store.take() != "1:open 2:open" {
			t.Errorf("requests after a third of the usable age: %v", got)
		}
		time.Sleep(2 * time.Minute)
		if n := len(v.take()); n < 8 || n > 13 {
			t.Errorf("%d requests in the minute after the call", n)
		}
		time.Sleep(time.Minute)
		if got := v.take(); len(got) != 0 {
			t.Errorf("requests for markets without calls: %v", got)
		}
	})
}
