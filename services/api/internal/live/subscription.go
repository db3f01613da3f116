package live

import "github.com/signalcast/signalcast/services/api/internal/feed"

// Subscription is one reader on one channel. It starts behind: its owner calls
// Catch, bringing what the hub no longer remembers, until it is live.
type Subscription struct {
	hub     *Hub
	channel feed.Channel
	queue   *Queue
	last    int64 // events up to here are in the queue, or the reader knows them
	live    bool
	gone    bool
}

// Subscribe adds a reader for which everything up to now is in the past.
func (h *Hub) Subscribe(q *Queue, c feed.Channel) *Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Subscription{hub: h, channel: c, queue: q, last: h.head}
	readers := h.topics[c]
	if readers == nil {
		readers = make(map[*Subscription]struct{})
		h.topics[c] = readers
	}
	readers[s] = struct{}{}
	return s
}

// Start moves the beginning of a subscription that is not live yet: the reader
// has everything up to at. That may lie ahead of this hub, since another process
// can have been quicker.
func (s *Subscription) Start(at int64) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.last = at
}

// Step is what Catch asks of its caller.
type Step uint8

// The steps.
const (
	Live Step = iota // nothing: every event comes by itself now
	Wait             // wait for room in the queue, then Catch again
	Read             // bring the events of the stretch, then Catch again
)

// Catch brings the reader forward from memory and, when it has reached the
// newest event, makes it live: under one lock, so that nothing falls between.
// With Read, from and upTo bound the stretch (from < seq <= upTo) to be read
// elsewhere, offered to the queue and reported by Caught.
func (s *Subscription) Catch() (step Step, from, upTo int64) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.gone || s.live {
		return Live, 0, 0
	}
	oldest := h.head - h.held // everything above is in memory
	if s.last < oldest {
		return Read, s.last, h.head
	}
	for seq := s.last + 1; seq <= h.head; seq++ {
		e := h.ring[seq%int64(len(h.ring))]
		for i, l := range e.msg.Links {
			if l.Channel == s.channel && !s.queue.Offer(e.frame(i)) {
				return Wait, 0, 0
			}
		}
		s.last = seq
	}
	s.live = true
	return Live, 0, 0
}

// Caught reports that everything of the channel up to through is in the queue.
func (s *Subscription) Caught(through int64) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.last = max(s.last, through)
}

// Close ends the subscription; nothing of it enters the queue afterwards.
func (s *Subscription) Close() {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	s.gone, s.live = true, false
	readers := h.topics[s.channel]
	delete(readers, s)
	if len(readers) == 0 {
		delete(h.topics, s.channel)
	}
}
