package market

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// maxFlights is the largest number of concurrent reads of different markets at one venue, for each purpose. If a venue does
// not respond, each read lasts for readTimeout.
var maxFlights = [Purposes]int{ForReader: 64, ForWatch: 16, ForCatalogue: 64, ForFiling: 256}

// flight is one read of a market at its venue. Concurrent callers with the same market and purpose share it. Callers with
// different purposes do not share a flight, because the check of a new call must not wait for the reads of visitors.
type flight struct {
	done   chan struct{}
	market Market
	err    error
	queued atomic.Bool // the read waited for the request limit of this process
}

type flightKey struct {
	id      protocol.MarketID
	purpose Purpose
}

type flightLine struct {
	provider protocol.Provider
	purpose  Purpose
}

// flights contains the reads of venues that are in progress.
type flights struct {
	wait    sync.WaitGroup
	closing context.Context // ends when the service closes
	end     context.CancelFunc

	mu     sync.Mutex // guards the fields below
	open   map[flightKey]*flight
	size   map[flightLine]int
	closed bool
}

func newFlights() *flights {
	f := &flights{open: make(map[flightKey]*flight), size: make(map[flightLine]int)}
	f.closing, f.end = context.WithCancel(context.Background())
	return f
}

// close rejects new reads, cancels the reads in progress, and waits until they have ended.
func (f *flights) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.end()
	f.wait.Wait()
}

// start calls the function do in the background. It passes a context that ends when the service closes. After close, it
// returns false and does not call do.
func (f *flights) start(do func(closing context.Context)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.wait.Go(func() { do(f.closing) })
	}
	return !f.closed
}

// join returns the read in progress for a market and purpose. If there is none, it starts one with the function read. It
// returns nil if maxFlights is reached or the service is closed. The read continues after the end of ctx, because other
// callers may wait for it.
func (f *flights) join(ctx context.Context, id protocol.MarketID, p Purpose, read func(context.Context) (Market, error)) *flight {
	key, line := flightKey{id, p}, flightLine{id.Provider(), p}
	f.mu.Lock()
	defer f.mu.Unlock()
	if running, ok := f.open[key]; ok {
		return running
	}
	if f.closed || f.size[line] >= maxFlights[p] {
		return nil
	}
	started := &flight{done: make(chan struct{})}
	f.open[key] = started
	f.size[line]++
	ctx, cancel := context.WithTimeout(withRequest(context.WithoutCancel(ctx), p, &started.queued), readTimeout)
	stop := context.AfterFunc(f.closing, cancel)
	f.wait.Go(func() {
		defer cancel()
		defer stop()
		started.market, started.err = read(ctx)
		if f.closing.Err() != nil && errors.Is(started.err, ErrUnavailable) {
			started.err = Busy() // canceled by this process, not a failure of the venue
		}
		f.mu.Lock()
		delete(f.open, key)
		f.size[line]--
		f.mu.Unlock()
		close(started.done)
	})
	return started
}

// wait returns the result of a flight. If ctx ends first, the error is Busy() if the read had to wait for the request limit
// of this process, and otherwise ErrUnavailable.
func (f *flight) wait(ctx context.Context) (Market, error) {
	select {
	case <-f.done:
		return f.market, f.err
	case <-ctx.Done():
		if f.queued.Load() {
			return Market{}, Busy()
		}
		return Market{}, ErrUnavailable.Wrap(ctx.Err())
	}
}
