package market_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/market"
	venues "github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/polymarket"
)

// answerer is a venue whose Get calls a function of the test.
type answerer struct {
	*venue
	get func(ctx context.Context, id protocol.MarketID) (market.Record, error)
}

func (a answerer) Get(ctx context.Context, id protocol.MarketID) (market.Record, error) {
	return a.get(ctx, id)
}

// over returns a market service that uses the store of the ledger and the given venue.
func (l *ledger) over(v market.Venue) *market.Service {
	s := market.NewService(l.store, market.Venues{protocol.Polymarket: v}, market.Classify{
		Lane:     func(string, []string) protocol.Lane { return protocol.LaneScience },
		Category: func(protocol.Lane, string, []string) string { return "science" },
	}, true, l.clock.Now)
	l.t.Cleanup(s.Close)
	return s
}

// TestBusyVenueLeavesNoStub checks that filings and reads fail with ErrBusy and a retry delay when the request limit of the
// process is reached. No stub is stored, because a later call on it would skip the check of the venue.
func TestBusyVenueLeavesNoStub(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("8")
	l.get("8")
	s := l.over(answerer{l.venue, func(context.Context, protocol.MarketID) (market.Record, error) {
		return market.Record{}, market.Busy()
	}})
	check := func(what, code string, err error) {
		t.Helper()
		if f := apperr.Of(err); !errors.Is(err, market.ErrBusy) || f.Kind != apperr.Unavailable || f.Code != code || f.Extra["retryAfterMs"] != 1000 {
			t.Errorf("error of %s: %v", what, err)
		}
	}
	check("filing", "signal_service_unavailable", s.Ensure(t.Context(), "7", anOperator, time.Second))
	_, err := s.Get(t.Context(), "7")
	check("reading", "venue_unavailable", err)
	_, err = s.Refresh(t.Context(), "8")
	check("scanning", "venue_unavailable", err)
	if m, err := s.Get(t.Context(), "8"); err != nil || m.Status != protocol.MarketOpen {
		t.Errorf("a stored market has the status %s, %v", m.Status, err)
	}
	if n := l.count(`SELECT count(*) FROM api.markets`); n != 1 {
		t.Errorf("%d markets are stored; want 1", n)
	}
}

// TestQueuedReadIsBusy checks that a read fails with ErrBusy if its time ended while it waited for the request limit of this
// process, and not with the error of an unavailable venue.
func TestQueuedReadIsBusy(t *testing.T) {
	t.Parallel()
	l := setup(t)
	for _, queued := range []bool{true, false} {
		gate := make(chan struct{})
		s := l.over(answerer{l.venue, func(ctx context.Context, _ protocol.MarketID) (market.Record, error) {
			if queued {
				market.NoteQueued(ctx)
			}
			<-gate
			return market.Record{}, market.ErrNotFound
		}})
		err := s.Ensure(t.Context(), "7", anOperator, time.Second)
		if n := l.count(`SELECT count(*) FROM api.markets`); queued != errors.Is(err, market.ErrBusy) || queued != (n == 0) {
			t.Errorf("queued %v: %v, %d markets are stored", queued, err, n)
		}
		close(gate)
	}
}

// TestPurposesDoNotShareAFlight checks that a filing does not wait for a read of the same market that a reader caused.
func TestPurposesDoNotShareAFlight(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	reading, gate, read := make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer func() { close(gate); <-read }()
	s := l.over(answerer{l.venue, func(ctx context.Context, id protocol.MarketID) (market.Record, error) {
		if market.PurposeOf(ctx) == market.ForReader {
			close(reading)
			<-gate
			return market.Record{}, market.ErrNotFound
		}
		if p := market.PurposeOf(ctx); p != market.ForFiling {
			t.Errorf("request with purpose %d", p)
		}
		return l.venue.Get(ctx, id)
	}})
	go func() {
		defer close(read)
		_, _ = s.Get(t.Context(), "7")
	}()
	<-reading
	if err := s.Ensure(t.Context(), "7", anOperator, time.Second); err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return l.count(`SELECT count(*) FROM api.markets WHERE status = 'open'`) == 1 })
}

// TestEveryReadHasItsPurpose checks that the context of each request to a venue carries the purpose of the read.
func TestEveryReadHasItsPurpose(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7", "8")
	var purposes []market.Purpose
	s := l.over(answerer{l.venue, func(ctx context.Context, id protocol.MarketID) (market.Record, error) {
		purposes = append(purposes, market.PurposeOf(ctx))
		return l.venue.Get(ctx, id)
	}})
	if _, err := s.Get(t.Context(), "7"); err != nil {
		t.Error(err)
	}
	l.clock.Advance(2 * time.Minute)
	if _, err := s.Get(t.Context(), "7"); err != nil {
		t.Error(err)
	}
	s.Settle()
	if _, err := s.Refresh(t.Context(), "7"); err != nil {
		t.Error(err)
	}
	if err := s.Ensure(t.Context(), "8", anOperator, time.Second); err != nil {
		t.Error(err)
	}
	if fmt.Sprint(purposes) != fmt.Sprint([]market.Purpose{market.ForReader, market.ForWatch, market.ForCatalogue, market.ForFiling}) {
		t.Errorf("requests with purposes %v", purposes)
	}
}

// emptyStore is a store without markets. It counts the stubs that are inserted.
type emptyStore struct {
	market.Store
	stubs atomic.Int64
}

func (*emptyStore) FindMarket(context.Context, protocol.MarketID) (market.Market, bool, error) {
	return market.Market{}, false, nil
}

func (k *emptyStore) InsertStub(context.Context, protocol.MarketID, string, time.Time) (bool, error) {
	k.stubs.Add(1)
	return true, nil
}

// TestFlightsAreBounded requests many different markets at a venue that does not answer. At most MaxFlights reads may be in
// progress, and every other caller must get ErrBusy immediately.
func TestFlightsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var under, most, busy atomic.Int64
		v := answerer{nil, func(ctx context.Context, _ protocol.MarketID) (market.Record, error) {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			<-ctx.Done()
			return market.Record{}, ctx.Err()
		}}
		store := &emptyStore{}
		s := market.NewService(store, market.Venues{protocol.Polymarket: v}, market.Classify{}, true, time.Now)
		ask := func(p market.Purpose, one func(ctx context.Context, id protocol.MarketID) error) {
			var wait sync.WaitGroup
			most.Store(0)
			busy.Store(0)
			ctx, cancel := context.WithCancel(t.Context())
			for i := range 2000 {
				wait.Go(func() {
					if err := one(ctx, protocol.MarketID(fmt.Sprint(1+i))); errors.Is(err, market.ErrBusy) {
						busy.Add(1)
					}
				})
			}
			synctest.Wait() // no time has passed
			if n := int64(market.MaxFlights(p)); under.Load() != n || busy.Load() != 2000-n {
				t.Errorf("purpose %d: %d reads in progress, %d rejected", p, under.Load(), busy.Load())
			}
			cancel()
			wait.Wait()
			<-time.After(10 * time.Second) // fake time of the synctest bubble, until the reads have ended
			if under.Load() != 0 {
				t.Errorf("purpose %d: %d reads did not end", p, under.Load())
			}
		}
		ask(market.ForReader, func(ctx context.Context, id protocol.MarketID) error {
			_, err := s.Get(ctx, id)
			return err
		})
		ask(market.ForFiling, func(ctx context.Context, id protocol.MarketID) error {
			return s.Ensure(ctx, id, uuid.NewString(), time.Second)
		})
	})
}

// TestAFloodOfReadersLeavesFilingsTheirCheck floods the client of a venue, at its real rate limit, with reads of markets
// that do not exist. Each filing must still get the answer that its market does not exist.
func TestAFloodOfReadersLeavesFilingsTheirCheck(t *testing.T) {
	t.Parallel()
	l := setup(t)
	var asked atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":"id not found"}`))
	}))
	t.Cleanup(host.Close)
	client, err := venues.NewClient(protocol.Polymarket, host.URL, 5, venues.NewMeter(prometheus.NewRegistry()), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := l.over(polymarket.New(client, client, false))
	began, next := time.Now(), atomic.Int64{}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for ctx.Err() == nil {
				id := protocol.MarketID(fmt.Sprint(1000 + next.Add(1)))
				if _, err := s.Get(ctx, id); ctx.Err() == nil && !errors.Is(err, market.ErrNotFound) && !errors.Is(err, market.ErrBusy) {
					t.Errorf("read: %v", err)
				}
			}
		})
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return next.Load() > 300 })
	for i := range 6 { // as many as the share of ForFiling allows in one second
		id := protocol.MarketID(fmt.Sprint(500 + i))
		err := s.Ensure(t.Context(), id, anOperator, time.Second)
		if errors.Is(err, market.ErrBusy) { // a slow machine delayed the request; retry once
			err = s.Ensure(t.Context(), id, anOperator, time.Second)
		}
		if !errors.Is(err, market.ErrNotFound) {
			t.Errorf("filing %d after %d reads: %v", i, next.Load(), err)
		}
	}
	cancel()
	wait.Wait()
	if n, most := asked.Load(), 10+5*time.Since(began).Seconds()+1; float64(n) > most {
		t.Errorf("the venue received %d requests; want at most %v", n, most)
	}
	if n := l.count(`SELECT count(*) FROM api.markets`); n != 0 {
		t.Errorf("%d markets are stored after %d reads; want 0", n, next.Load())
	}
}

// TestAnotherMarketForAnIDIsNone checks that an answer about another market counts as "no such market", because a market id
// must not be an alias of another.
func TestAnotherMarketForAnIDIsNone(t *testing.T) {
	t.Parallel()
	l := setup(t)
	l.venue.list("7")
	asked := 0
	s := l.over(answerer{l.venue, func(ctx context.Context, _ protocol.MarketID) (market.Record, error) {
		asked++
		return l.venue.Get(ctx, "7")
	}})
	for range 3 {
		if err := s.Ensure(t.Context(), "70", anOperator, time.Second); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("Ensure: %v", err)
		}
		if _, err := s.Get(t.Context(), "70"); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("Get: %v", err)
		}
	}
	if n := l.count(`SELECT count(*) FROM api.markets`); n != 0 || asked != 1 {
		t.Errorf("%d markets are stored after %d requests; want 0 after 1", n, asked)
	}
}

// TestCloseCancelsReads checks that Close cancels the reads in progress and that no read starts after it.
func TestCloseCancelsReads(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	s := market.NewService(&emptyStore{}, market.Venues{protocol.Polymarket: answerer{nil, func(ctx context.Context, _ protocol.MarketID) (market.Record, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return market.Record{}, ctx.Err()
	}}}, market.Classify{}, true, time.Now)
	answer := make(chan error)
	go func() {
		_, err := s.Get(t.Context(), "7")
		answer <- err
	}()
	<-asked
	s.Close()
	if err := <-answer; !errors.Is(err, market.ErrBusy) {
		t.Errorf("canceled read: %v", err)
	}
	if _, err := s.Get(t.Context(), "8"); !errors.Is(err, market.ErrBusy) || len(asked) != 0 {
		t.Errorf("after the close: %v", err)
	}
}
