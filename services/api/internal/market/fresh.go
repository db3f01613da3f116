package market

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/batch"
	"github.com/signalcast/signalcast/pkg/protocol"
)

const (
	// maxWaiting is the largest number of reads of one venue that the calls of one operator wait for at a time.
	maxWaiting = 2
	// maxReads is the largest number of reads of one venue that the calls of one operator cause in readWindow.
	maxReads   = 20
	readWindow = time.Minute
	// maxBatch is the largest number of markets in one request.
	maxBatch = 20
	// joinTime is the time for which a request delays the next requests to its venue, so that later reads share one
	// request. A request that takes longer delays no other request.
	joinTime = 250 * time.Millisecond
	// maxJoined is the largest number of requests to one venue that are younger than joinTime. With joinTime and
	// freshTime it limits the concurrent requests to 16.
	maxJoined = 2
	// freshTime is the timeout of one request, and the longest time that a read waits for its request.
	freshTime = 2 * time.Second
	// hotTime is the timeout of a request that no call caused. It is short, so that a call that joined the request may
	// have time for a request of its own.
	hotTime = time.Second
	// maxQueued is the largest number of reads of one venue that wait for a request.
	maxQueued = 1000
)

// errLimit rejects a read of a venue when its operator, or the whole process, has reached the limit of reads.
var errLimit = apperr.New(apperr.Unavailable, "venue_unavailable", "too many reads of the market's venue; retry in 1 s").
	With("retryAfterMs", 1000)

// Connected reports whether the venue of a market is connected.
func (s *Service) Connected(id protocol.MarketID) bool { return s.venues[id.Provider()] != nil }

// Fresh reads a market at its venue and stores the answer, for a call without a fresh quote. All calls on a market
// share one read. Reads of one venue that arrive while others are in progress share a request. At the end of ctx it
// returns an error, and the read continues. Faults: market_not_found when the venue has no such market,
// venue_unavailable, db_unavailable.
func (s *Service) Fresh(ctx context.Context, id protocol.MarketID, operator string) error {
	v := s.fresh[id.Provider()]
	if v == nil {
		return ErrUnavailable
	}
	if s.isAbsent(id) {
		return ErrNotFound
	}
	for {
		r, leave := v.get(id, operator)
		if r == nil {
			return errLimit
		}
		select {
		case <-r.done:
			leave()
			if r.err != nil && r.hot && !errors.Is(r.err, ErrNotFound) {
				continue // start a read that this call causes
			}
			return r.err
		case <-ctx.Done():
			leave()
			return ErrUnavailable.Wrap(ctx.Err())
		}
	}
}

// venueReads are the reads of one venue: those that calls cause, and the background reads of hot markets.
type venueReads struct {
	service *Service
	venue   Venue
	queue   *batch.Queue[*venueRead]

	mu      sync.Mutex
	open    map[protocol.MarketID]*venueRead // queued or in progress
	hot     bool                             // a request that no call caused is in progress
	callers map[string]*callerReads
}

// venueRead is one read of one market. done is closed after err is set.
type venueRead struct {
	id     protocol.MarketID
	hot    bool // no call caused it
	queued time.Time
	done   chan struct{}
	err    error
}

// callerReads are the reads that the calls of one operator caused.
type callerReads struct {
	waiting int
	at      []time.Time // within readWindow
}

func newVenueReads(s *Service, v Venue) *venueReads {
	reads := &venueReads{service: s, venue: v, open: map[protocol.MarketID]*venueRead{}, callers: map[string]*callerReads{}}
	reads.queue = batch.New(batch.Config[*venueRead]{
		Size: maxBatch, Bound: maxQueued, Flight: maxJoined, Wanted: reads.wanted, Send: reads.join,
	})
	return reads
}

// get returns the read of a market that is queued or in progress, or starts one for the operator. It returns nil when a
// limit is reached. The caller must call leave when it stops waiting.
func (v *venueReads) get(id protocol.MarketID, operator string) (r *venueRead, leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r := v.open[id]; r != nil {
		return r, func() {}
	}
	if v.queue.Len() >= maxQueued { // only this function adds to the queue, with the lock
		return nil, nil
	}
	if leave = v.admit(operator); leave == nil {
		return nil, nil
	}
	r = &venueRead{id: id, queued: v.service.now(), done: make(chan struct{})}
	v.open[id] = r
	if v.queue.Add(r) == 0 { // the service is closing
		v.end(r, errLimit)
	}
	return r, leave
}

// enter counts a read that this queue does not execute against the limits of an operator. It returns nil when a limit
// is reached.
func (v *venueReads) enter(operator string) (leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.admit(operator)
}

// admit counts a read against the limits of an operator, or returns nil when a limit is reached. The caller must hold
// the lock.
func (v *venueReads) admit(operator string) (leave func()) {
	now := v.service.now()
	c := v.callers[operator]
	if c == nil {
		if len(v.callers) >= maxSetSize {
			v.forget(now)
		}
		c = &callerReads{}
		v.callers[operator] = c
	}
	c.trim(now)
	if c.waiting >= maxWaiting || len(c.at) >= maxReads {
		return nil
	}
	c.waiting++
	c.at = append(c.at, now)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		c.waiting--
	}
}

func (c *callerReads) trim(now time.Time) {
	for len(c.at) > 0 && now.Sub(c.at[0]) >= readWindow {
		c.at = c.at[1:]
	}
}

// forget deletes operators without reads in the window. The caller must hold the lock.
func (v *venueReads) forget(now time.Time) {
	for operator, c := range v.callers {
		if c.trim(now); c.waiting == 0 && len(c.at) == 0 {
			delete(v.callers, operator)
		}
	}
}

// wanted reports whether the callers of a queued read still wait. If they do not, it ends the read.
func (v *venueReads) wanted(r *venueRead) bool {
	if v.service.now().Sub(r.queued) <= freshTime {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.end(r, errLimit)
	return false
}

// join sends reads as one request. It returns when the request has ended, and after joinTime at the latest.
func (v *venueReads) join(reads []*venueRead) {
	done := make(chan struct{})
	v.send(reads, ForFiling, freshTime, func() { close(done) })
	timer := time.NewTimer(joinTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// send reads markets in the background and ends their reads. It then calls then, with the lock.
func (v *venueReads) send(reads []*venueRead, p Purpose, limit time.Duration, then func()) {
	end := func(err func(i int) error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		for i, r := range reads {
			v.end(r, err(i))
		}
		then()
	}
	started := v.service.flights.start(func(closing context.Context) {
		ctx, cancel := context.WithTimeout(WithPurpose(closing, p), limit)
		defer cancel()
		errs := v.read(ctx, reads)
		end(func(i int) error { return errs[i] })
	})
	if !started {
		end(func(int) error { return errLimit })
	}
}

// end sets the result of a read and wakes its callers. The caller must hold the lock.
func (v *venueReads) end(r *venueRead, err error) {
	r.err = err
	delete(v.open, r.id)
	close(r.done)
}

// read reads markets at the venue and stores the answers. It requests several markets together, and then individually
// those that the answer left out: they are closed, or do not exist.
func (v *venueReads) read(ctx context.Context, batch []*venueRead) []error {
	errs := make([]error, len(batch))
	answered := make(map[protocol.MarketID]bool, len(batch))
	if len(batch) > 1 {
		ids := make([]protocol.MarketID, len(batch))
		for i, r := range batch {
			ids[i] = r.id
		}
		records, err := v.venue.Quote(ctx, ids)
		if err == nil {
			_, err = v.service.Apply(ctx, records, false)
		}
		if err != nil {
			for i := range errs {
				errs[i] = err
			}
			return errs
		}
		for i := range records {
			answered[records[i].ID] = true
		}
	}
	var reads errgroup.Group
	reads.SetLimit(readers)
	for i, r := range batch {
		if !answered[r.id] {
			reads.Go(func() error {
				errs[i] = v.service.apply(ctx, v.venue, r.id)
				return nil
			})
		}
	}
	_ = reads.Wait() // the errors are in errs
	return errs
}

// hotMarket is a market with a call within hotFor.
type hotMarket struct {
	called time.Time
	quoted time.Time // the time of the newest known quote, or of the newest background read
}

const (
	// hotFor is the time for which a market is refreshed after a call.
	hotFor = time.Minute
	// maxHot is the largest number of markets that are refreshed.
	maxHot = 1000
)

// Called records a call on a market of a venue, so that Warm keeps its quote fresh. quoted is the time of the quote
// that the call was compared with, or nil without a quote.
func (s *Service) Called(id protocol.MarketID, quoted *time.Time) {
	if !s.Connected(id) {
		return
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	h, known := s.hot[id]
	if !known && len(s.hot) >= maxHot {
		return
	}
	h.called = now
	if quoted != nil && quoted.After(h.quoted) {
		h.quoted = *quoted
	}
	s.hot[id] = h
}

// Warm refreshes the quotes of markets with a call within hotFor, until ctx ends. It refreshes a quote that is older
// than a third of maxAge.
func (s *Service) Warm(ctx context.Context, maxAge time.Duration) {
	every(ctx, max(maxAge/6, 100*time.Millisecond), func() {
		for p, ids := range s.due(maxAge / 3) {
			s.fresh[p].refresh(ids)
		}
	})
}

// due returns the markets whose quote is older than age, by venue, at most maxBatch for each venue.
func (s *Service) due(age time.Duration) map[protocol.Provider][]protocol.MarketID {
	now := s.now()
	out := make(map[protocol.Provider][]protocol.MarketID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, h := range s.hot {
		p := id.Provider()
		switch {
		case now.Sub(h.called) > hotFor:
			delete(s.hot, id)
		case now.Sub(h.quoted) >= age && len(out[p]) < maxBatch:
			out[p] = append(out[p], id)
			h.quoted = now
			s.hot[id] = h
		}
	}
	return out
}

// refresh reads hot markets, with at most one request to the venue at a time.
func (v *venueReads) refresh(ids []protocol.MarketID) {
	if reads := v.startHot(ids); len(reads) > 0 {
		v.send(reads, ForWatch, hotTime, func() { v.hot = false })
	}
}

// startHot returns new reads for the markets that have none. It returns no reads while a request for hot markets is in
// progress.
func (v *venueReads) startHot(ids []protocol.MarketID) (reads []*venueRead) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hot {
		return nil
	}
	for _, id := range ids {
		if v.open[id] == nil {
			r := &venueRead{id: id, hot: true, done: make(chan struct{})}
			v.open[id] = r
			reads = append(reads, r)
		}
	}
	v.hot = len(reads) > 0
	return reads
}
