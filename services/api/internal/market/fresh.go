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
	// mostWaits is how many reads of one venue an operator's calls wait for at a time.
	mostWaits = 2
	// mostReads is how many reads of one venue an operator's calls cause in readWindow.
	mostReads  = 20
	readWindow = time.Minute
	// mostBatch is the most markets of one request.
	mostBatch = 20
	// joinTime is how long a request keeps later ones of its venue waiting, which join
	// meanwhile. A request that takes longer delays no other one.
	joinTime = 250 * time.Millisecond
	// mostJoined is how many requests younger than joinTime a venue has. With joinTime and
	// freshTime it bounds the requests that are under way: 16.
	mostJoined = 2
	// freshTime bounds one request, and how long a read waits for its request.
	freshTime = 2 * time.Second
	// hotTime bounds a request that no call caused. A call that joined it may have time left for
	// a request of its own.
	hotTime = time.Second
	// mostQueued bounds the reads of one venue that wait for a request.
	mostQueued = 1000
)

// errLimit refuses a read of a venue: its operator has as many as it may, or all have.
var errLimit = apperr.New(apperr.Unavailable, "venue_unavailable", "too many reads of the market's venue, try again").
	With("retryAfterMs", 1000)

// Connected reports whether the venue of a market is connected.
func (s *Service) Connected(id protocol.MarketID) bool { return s.venues[id.Provider()] != nil }

// Fresh reads a market at its venue and applies the answer, for a call without a fresh quote. All
// calls on a market share one read. Reads of one venue that come while others are under way
// share a request. It returns at the end of ctx without the answer; the read goes on. Faults:
// market_not_found when the venue denies the market, venue_unavailable, db_unavailable.
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
				continue // the next read is caused by this call
			}
			return r.err
		case <-ctx.Done():
			leave()
			return ErrUnavailable.Wrap(ctx.Err())
		}
	}
}

// venueReads are the reads of one venue that calls cause, and the background reads of hot
// markets.
type venueReads struct {
	service *Service
	venue   Venue
	queue   *batch.Queue[*venueRead]

	mu      sync.Mutex
	open    map[protocol.MarketID]*venueRead // queued or under way
	hot     bool                             // a request that no call caused is under way
	callers map[string]*callerReads
}

// venueRead is one read of one market. done is closed once err is set.
type venueRead struct {
	id   protocol.MarketID
	hot  bool // no call caused it
	came time.Time
	done chan struct{}
	err  error
}

// callerReads are the reads that the calls of one operator caused.
type callerReads struct {
	waiting int
	at      []time.Time // within readWindow
}

func newVenueReads(s *Service, v Venue) *venueReads {
	reads := &venueReads{service: s, venue: v, open: map[protocol.MarketID]*venueRead{}, callers: map[string]*callerReads{}}
	reads.queue = batch.New(batch.Config[*venueRead]{
		Size: mostBatch, Bound: mostQueued, Flight: mostJoined, Wanted: reads.wanted, Send: reads.join,
	})
	return reads
}

// get returns the read of a market that is queued or under way, or starts one for the operator.
// It returns nil when a limit is reached. leave must be called when the wait ends.
func (v *venueReads) get(id protocol.MarketID, operator string) (r *venueRead, leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r := v.open[id]; r != nil {
		return r, func() {}
	}
	if v.queue.Len() >= mostQueued { // only this adds to it, under the lock
		return nil, nil
	}
	if leave = v.admit(operator); leave == nil {
		return nil, nil
	}
	r = &venueRead{id: id, came: v.service.now(), done: make(chan struct{})}
	v.open[id] = r
	if v.queue.Add(r) == 0 { // the service closes
		v.end(r, errLimit)
	}
	return r, leave
}

// enter counts a read that is not one of these against the limits of an operator.
func (v *venueReads) enter(operator string) (leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.admit(operator)
}

// admit counts a read against the limits of an operator, or returns nil. The lock is held.
func (v *venueReads) admit(operator string) (leave func()) {
	now := v.service.now()
	c := v.callers[operator]
	if c == nil {
		if len(v.callers) >= maxMemory {
			v.forget(now)
		}
		c = &callerReads{}
		v.callers[operator] = c
	}
	c.trim(now)
	if c.waiting >= mostWaits || len(c.at) >= mostReads {
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

// forget drops operators without reads in the window. The lock is held.
func (v *venueReads) forget(now time.Time) {
	for operator, c := range v.callers {
		if c.trim(now); c.waiting == 0 && len(c.at) == 0 {
			delete(v.callers, operator)
		}
	}
}

// wanted reports whether the callers of a queued read still wait. If not, it ends the read.
func (v *venueReads) wanted(r *venueRead) bool {
	if v.service.now().Sub(r.came) <= freshTime {
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

// send reads markets in the background, ends their reads, and calls then under the lock.
func (v *venueReads) send(reads []*venueRead, p Purpose, limit time.Duration, then func()) {
	end := func(err func(i int) error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		for i, r := range reads {
			v.end(r, err(i))
		}
		then()
	}
	begun := v.service.flights.begin(func(closing context.Context) {
		ctx, cancel := context.WithTimeout(WithPurpose(closing, p), limit)
		defer cancel()
		errs := v.read(ctx, reads)
		end(func(i int) error { return errs[i] })
	})
	if !begun {
		end(func(int) error { return errLimit })
	}
}

// end gives a read its outcome. The lock is held.
func (v *venueReads) end(r *venueRead, err error) {
	r.err = err
	delete(v.open, r.id)
	close(r.done)
}

// read reads markets at the venue and applies the answers: several in one request, then those
// that it left out one by one. They are closed, or unknown.
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

// hotMarket is a market that was called within hotFor.
type hotMarket struct {
	called time.Time
	quoted time.Time // of the quote known here, or of the newest background read
}

const (
	// hotFor is how long a market is refreshed after a call.
	hotFor = time.Minute
	// mostHot bounds the markets that are refreshed.
	mostHot = 1000
)

// Called notes a call on a market of a venue, so that Warm keeps its quote fresh. quoted is the
// time of the quote that the call was compared with; nil: there was none.
func (s *Service) Called(id protocol.MarketID, quoted *time.Time) {
	if !s.Connected(id) {
		return
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	h, known := s.hot[id]
	if !known && len(s.hot) >= mostHot {
		return
	}
	h.called = now
	if quoted != nil && quoted.After(h.quoted) {
		h.quoted = *quoted
	}
	s.hot[id] = h
}

// Warm refreshes the quotes of markets that were called within hotFor, until ctx ends. A quote
// is refreshed from the age of a third of maxAge on.
func (s *Service) Warm(ctx context.Context, maxAge time.Duration) {
	every(ctx, max(maxAge/6, 100*time.Millisecond), func() {
		for p, ids := range s.due(maxAge / 3) {
			s.fresh[p].refresh(ids)
		}
	})
}

// due returns the markets whose quote is older than age, by venue, at most mostBatch of each.
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
		case now.Sub(h.quoted) >= age && len(out[p]) < mostBatch:
			out[p] = append(out[p], id)
			h.quoted = now
			s.hot[id] = h
		}
	}
	return out
}

// refresh reads hot markets, one request of a venue at a time.
func (v *venueReads) refresh(ids []protocol.MarketID) {
	if reads := v.startHot(ids); len(reads) > 0 {
		v.send(reads, ForWatch, hotTime, func() { v.hot = false })
	}
}

// startHot returns reads of the markets that are not read, or none while a request for hot markets is under way.
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
