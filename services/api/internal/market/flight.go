package market

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// mostFlights bounds the questions about different markets that are under way at
// one venue, by purpose: a venue that hangs holds each of them for readTimeout.
var mostFlights = [Purposes]int{ForReader: 64, ForWatch: 16, ForCatalogue: 64, ForFiling: 256}

// flight is one question to a venue that everybody shares who asks the same for
// the same purpose. Purposes do not share: a filing must not wait in the line of
// the readers.
type flight struct {
	done   chan struct{}
	market Market
	err    error
	queued atomic.Bool // it had to wait for its turn at our own limit
}

type flightKey struct {
	id      protocol.MarketID
	purpose Purpose
}

type flightLine struct {
	provider protocol.Provider
	purpose  Purpose
}

// flights are the questions under way.
type flights struct {
	wait    sync.WaitGroup
	closing context.Context // ends when the service closes
	end     context.CancelFunc

	mu     sync.Mutex // guards what follows
	open   map[flightKey]*flight
	size   map[flightLine]int
	closed bool
}

func newFlights() *flights {
	f := &flights{open: make(map[flightKey]*flight), size: make(map[flightLine]int)}
	f.closing, f.end = context.WithCancel(context.Background())
	return f
}

// close lets no more begin and breaks off those under way.
func (f *flights) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.end()
	f.wait.Wait()
}

// begin runs do in the background, unless the service closes.
func (f *flights) begin(do func(closing context.Context)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.wait.Go(func() { do(f.closing) })
	}
	return !f.closed
}

// join gives the flight of an id, which ask begins if there is none; nil where
// as many are under way as may be. The question outlives a caller that goes
// away: others may wait for it.
func (f *flights) join(ctx context.Context, id protocol.MarketID, p Purpose, ask func(context.Context) (Market, error)) *flight {
	key, line := flightKey{id, p}, flightLine{id.Provider(), p}
	f.mu.Lock()
	defer f.mu.Unlock()
	if under, ok := f.open[key]; ok {
		return under
	}
	if f.closed || f.size[line] >= mostFlights[p] {
		return nil
	}
	begun := &flight{done: make(chan struct{})}
	f.open[key] = begun
	f.size[line]++
	ctx, cancel := context.WithTimeout(withErrand(context.WithoutCancel(ctx), p, &begun.queued), readTimeout)
	stop := context.AfterFunc(f.closing, cancel)
	f.wait.Go(func() {
		defer cancel()
		defer stop()
		begun.market, begun.err = ask(ctx)
		if f.closing.Err() != nil && errors.Is(begun.err, ErrUnavailable) {
			begun.err = Busy() // it was broken off here: no word about the venue
		}
		f.mu.Lock()
		delete(f.open, key)
		f.size[line]--
		f.mu.Unlock()
		close(begun.done)
	})
	return begun
}

// wait gives the answer of a flight. A caller whose time ends first may say that
// the venue is away only if the venue had all of that time.
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
