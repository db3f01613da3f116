package broker

import "github.com/signalcast/signalcast/services/api/internal/feed"

// notDirect is the index of a subscription that is not in topic.direct. A flush does not write to this subscription.
const notDirect = -1

// Subscription connects one reader to one channel. After Subscribe, the caller must call CatchUp and execute the returned
// Step, until the Step is Live.
type Subscription struct {
	reader  *Reader
	channel feed.Channel
	topic   *topic
	last    int64 // number of the last event that was sent; outdated while direct
	newest  int64 // number of the last change of topic.newest that was sent; outdated while direct
	index   int   // index in topic.direct, or notDirect
	live    bool  // CatchUp has returned Live: the broker sends all further events
	closed  bool
}

// Subscribe adds a subscription of reader r to channel c. The subscription starts after the newest event, unless Start is
// called.
func (b *Broker) Subscribe(r *Reader, c feed.Channel) *Subscription {
	s := r.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topics[c]
	if t == nil {
		t = &topic{}
		s.topics[c] = t
	}
	t.count++
	return &Subscription{reader: r, channel: c, topic: t, last: s.head, index: notDirect}
}

// Start sets the number of the event after which the subscription starts. It must be called before the first CatchUp. at can be
// greater than the head of this broker, because another process may have delivered more events.
func (s *Subscription) Start(at int64) {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s.last = at
}

// Step is the next action that CatchUp requires of its caller.
type Step uint8

// Values of Step.
const (
	Live  Step = iota // none: the broker sends all further events
	Wait              // call Reader.WaitForSpace, then CatchUp again
	Ahead             // wait until the broker has delivered more events, then call CatchUp again
	Read              // read the events from the store, then call CatchUp again
)

// CatchUp sends missed events from memory. When the subscription has reached the newest event, it becomes live under the same
// lock, so that no later event is missed. If the step is Read, the caller must read the events with from < number <= upTo from
// the store, pass them to Reader.Offer, and call CaughtUp.
func (s *Subscription) CatchUp() (step Step, from, upTo int64) {
	for {
		frames, at, step := s.step()
		switch step {
		case Live:
			s.reader.Offer(frames) // if the queue is full, these frames are lost: they have no number, and later ones replace them
			return Live, 0, 0
		case Read:
			return Read, s.last, at
		case Ahead:
			return Ahead, 0, 0
		}
		if len(frames) > 0 && !s.reader.Offer(frames) {
			return Wait, 0, 0
		}
		s.CaughtUp(at)
	}
}

// advance returns the next chunk of frames for a live subscription that lags. If step is Read, some of its events are no longer
// in memory.
func (s *Subscription) advance() (frames []byte, step Step) {
	frames, at, step := s.step()
	if step == Wait {
		s.CaughtUp(at)
	}
	return frames, step
}

// step returns the next chunk of missed frames and the step Wait. The result at is the number of the last event that the
// chunk covers. If no event is missing, step returns Live, and the subscription becomes direct. If events up to at must be
// read from the store, it returns Read. If the subscription starts after the newest event of this process, it returns Ahead.
func (s *Subscription) step() (frames []byte, at int64, step Step) {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	switch {
	case s.closed, s.index != notDirect:
		return nil, 0, Live
	case s.last > sh.head:
		return nil, 0, Ahead
	case s.last == sh.head:
		if s.live {
			if frames, s.newest = s.topic.newest.after(s.newest); s.newest < s.topic.newest.last {
				return frames, sh.head, Wait
			}
		}
		s.live = true
		s.topic.add(s)
		return frames, 0, Live
	}
	frames, at, ok := sh.broker.replayFrames(s.channel, s.last, sh.head, !s.live)
	if !ok {
		return nil, sh.head, Read
	}
	return frames, at, Wait
}

// CaughtUp records that the reader has all events of the channel up to the number through.
func (s *Subscription) CaughtUp(through int64) {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s.last = max(s.last, through)
}

// Close ends the subscription: the reader gets no later events of the channel. Further calls do nothing.
func (s *Subscription) Close() {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.index != notDirect {
		s.topic.drop(s)
	}
	if s.topic.count--; s.topic.count == 0 && sh.topics[s.channel] == s.topic {
		delete(sh.topics, s.channel)
	}
}
