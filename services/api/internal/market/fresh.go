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
	// maxWaiting is the largest number of reads of one venue for which the calls of one operator may wait at a time.
	maxWaiting = 2
	// maxReads is the largest number of reads of one venue that the calls of one operator may cause in readWindow.
	maxReads   = 20
	readWindow = time.Minute
	// maxBatch is the largest number of markets in one request.
	maxBatch = 20
	// joinTime is the longest time for which a request delays later requests to its venue. Reads that arrive in this time
	// share one request. A request that takes longer no longer delays others.
	joinTime = 250 * time.Millisecond
	// maxJoined is the largest number of requests to one venue that are younger than joinTime. Together with joinTime and
	// freshTime, it limits the concurrent requests to one venue to 16.
	maxJoined = 2
	// freshTime is the timeout of one request. It is also the longest time that a read waits in the queue before its
	// request.
	freshTime = 2 * time.Second
	// hotTime is the timeout of a background request, which no call caused. It is shorter than freshTime, so that a call
	// that waits for a failing background request has time for its own request.
	hotTime = time.Second
	// maxQueued is the largest number of reads of one venue that wait for a request.
	maxQueued = 1000
)

// errLimit is returned if the operator or the whole process has reached its limit of reads of a venue.
var errLimit = apperr.New(apperr.Unavailable, "venue_unavailable", "too many requests to the market's venue; retry in 1 s").
	With("retryAfterMs", 1000)

// Connected reports whether the venue of a market is connected to this service.
func (s *Service) Connected(id protocol.MarketID) bool { return s.venues[id.Provider()] != nil }

// Fresh reads a market at its venue and stores the record. It serves a call that needs a quote. Concurrent calls on a market
// share one read, and reads of one venue share requests. If ctx ends first, Fresh returns an error and the read continues.
// Errors: market_not_found if the venue has no such market, venue_unavailable (also if a limit of the operator or of the
// process is reached), db_unavailable.
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
				continue // start a read for this call
			}
			return r.err
		case <-ctx.Done():
			leave()
			return ErrUnavailable.Wrap(ctx.Err())
		}
	}
}

// venueReads contains the reads of one venue that are queued or in progress: reads for calls, and background reads of hot
// markets.
type venueReads struct {
	service *Service
	venue   Venue
	queue   *batch.Queue[*venueRead]

	mu      sync.Mutex
	open    map[protocol.MarketID]*venueRead // queued or in progress
	hot     bool                             // a background request is in progress
	callers map[string]*callerReads
}

// venueRead is one read of one market. done is closed after err is set.
type venueRead struct {
	id     protocol.MarketID
	hot    bool // a background read, which no call caused
	queued time.Time
	done   chan struct{}
	err    error
}

// callerReads counts the reads that the calls of one operator caused.
type callerReads struct {
	waiting int
	at      []time.Time // start times of the reads within readWindow
}

func newVenueReads(s *Service, v Venue) *venueReads {
	reads := &venueReads{service: s, venue: v, open: map[protocol.MarketID]*venueRead{}, callers: map[string]*callerReads{}}
	reads.queue = batch.New(batch.Config[*venueRead]{
		Size: maxBatch, Bound: maxQueued, Flight: maxJoined, Wanted: reads.wanted, Send: reads.join,
	})
	return reads
}

// get returns the read of a market that is queued or in progress. If there is none, it queues a new read and counts it
// against the limits of the operator. It returns nil if a limit is reached. The caller must call leave when it stops waiting.
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

// enter counts a read against the limits of an operator. The caller executes the read itself. enter returns nil if a limit is
// reached. Otherwise, the caller must call leave after the read.
func (v *venueReads) enter(operator string) (leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.admit(operator)
}

// admit counts a read against the limits of an operator. It returns nil if a limit is reached. Otherwise it returns a
// function that decrements the number of waiting reads. The caller must hold v.mu.
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

// forget deletes the counters of operators without reads in progress or in readWindow. The caller must hold v.mu.
func (v *venueReads) forget(now time.Time) {
	for operator, c := range v.callers {
		if c.trim(now); c.waiting == 0 && len(c.at) == 0 {
			delete(v.callers, operator)
		}
	}
}

// wanted reports whether a queued read is at most freshTime old. The callers of an older read no longer wait, so wanted ends
// that read with errLimit.
func (v *venueReads) wanted(r *venueRead) bool {
	if v.service.now().Sub(r.queued) <= freshTime {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.end(r, errLimit)
	return false
}

// join executes reads. It returns when they have ended, and after joinTime at the latest.
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

// send executes reads in the background and ends each read with its result, or with errLimit if the service is closing.
// Finally, it calls the callback then with v.mu locked.
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

// end sets the result of a read and wakes its callers. The caller of end must hold v.mu.
func (v *venueReads) end(r *venueRead, err error) {
	r.err = err
	delete(v.open, r.id)
	close(r.done)
}

// read reads markets at the venue and stores the records. It requests several markets together. A market that the response
// omits is closed or does not exist, and read then requests it alone. The result has one error or nil for each element of
// batch.
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

// hotMarket is the state of a market on which a call was filed within hotFor.
type hotMarket struct {
	called time.Time
	quoted time.Time // time of the newest known quote, or of the start of the newest background read
}

const (
	// hotFor is the time for which the quote of a market is refreshed after a call on it.
	hotFor = time.Minute
	// maxHot is the largest number of markets whose quotes are refreshed because of calls.
	maxHot = 1000
)

// Called records a call on a market, so that Warm refreshes the quote of the market. quoted is the time of the quote with
// which the price of the call was verified, or nil if there was none. If the venue of the market is not connected, Called
// does nothing. If maxHot markets are recorded, it does nothing for a further market.
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

// Warm refreshes the quotes of markets on which a call was filed within hotFor, until ctx ends. It refreshes a quote that is
// older than a third of maxAge, so that later calls find a quote younger than maxAge.
func (s *Service) Warm(ctx context.Context, maxAge time.Duration) {
	every(ctx, max(maxAge/6, 100*time.Millisecond), func() {
		for p, ids := range s.due(maxAge / 3) {
			s.fresh[p].refresh(ids)
		}
	})
}

// due returns, for each venue, at most maxBatch markets whose quote is at least as old as age. It records that their quotes
// are refreshed now. It deletes the state of markets without a call within hotFor.
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

// refresh reads the markets with the given ids in the background. It does nothing while another background request to the
// venue is in progress.
func (v *venueReads) refresh(ids []protocol.MarketID) {
	if reads := v.startHot(ids); len(reads) > 0 {
		v.send(reads, ForWatch, hotTime, func() { v.hot = false })
	}
}

// startHot returns a new background read for each of the given markets that has no read in progress. It returns none while
// another background request is in progress.
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
