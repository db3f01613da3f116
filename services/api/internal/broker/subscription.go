package broker

import "github.com/signalcast/signalcast/services/api/internal/feed"

// notDirect marks a subscription that its shard does not write to.
const notDirect = -1

// Subscription is one reader on one channel. It starts behind: its owner calls
// Catch, bringing what the hub no longer remembers, until it is live.
type Subscription struct {
	reader  *Reader
	channel feed.Channel
	topic   *topic
	last    int64 // events up to here are with the reader; not kept up while direct
	at      int   // in the topic's direct ones
	live    bool  // the hub sees to everything
	gone    bool
}

// Subscribe adds a reader for which everything up to now is in the past.
func (h *Broker) Subscribe(r *Reader, c feed.Channel) *Subscription {
	s := r.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topics[c]
	if t == nil {
		t = &topic{}
		s.topics[c] = t
	}
	t.count++
	return &Subscription{reader: r, channel: c, topic: t, last: s.head, at: notDirect}
}

// Start moves the beginning of a subscription that is not live yet: the reader
// has everything up to at. That may lie ahead of this hub, since another process
// can have been quicker.
func (s *Subscription) Start(at int64) {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s.last = at
}

// Step is what Catch asks of its caller.
type Step uint8

// The steps.
const (
	Live  Step = iota // nothing: every event comes by itself now
	Wait              // wait for room with the reader, then Catch again
	Ahead             // wait until the hub has come so far, then Catch again
	Read              // bring the events of the stretch, then Catch again
)

// Catch brings the reader forward from memory and, when it has reached the
// newest event, makes it live: under one lock, so that nothing falls between.
// With Read, from and upTo bound the stretch (from < seq <= upTo) to be read
// elsewhere, offered to the reader and reported by Caught.
func (s *Subscription) Catch() (step Step, from, upTo int64) {
	for {
		frames, at, step := s.step()
		switch step {
		case Live:
			s.reader.Offer(frames) // the newest of each kind; they come again
			return Live, 0, 0
		case Read:
			return Read, s.last, at
		case Ahead:
			return Ahead, 0, 0
		}
		if len(frames) > 0 && !s.reader.Offer(frames) {
			return Wait, 0, 0
		}
		s.Caught(at)
	}
}

// advance is Catch for a subscription that was live and lags: one chunk on.
func (s *Subscription) advance() (frames []byte, step Step) {
	frames, at, step := s.step()
	if step == Wait {
		s.Caught(at)
	}
	return frames, step
}

// step finds the next chunk and how far it reaches. With nothing left the
// subscription becomes direct.
func (s *Subscription) step() (frames []byte, at int64, step Step) {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	switch {
	case s.gone, s.at != notDirect:
		return nil, 0, Live
	case s.last > sh.head:
		return nil, 0, Ahead
	case s.last == sh.head:
		for _, n := range s.topic.newest {
			if s.live {
				frames = append(frames, n.frame...)
			}
		}
		s.live = true
		s.topic.add(s)
		return frames, 0, Live
	}
	frames, at, ok := sh.broker.remember(s.channel, s.last, sh.head, !s.live)
	if !ok {
		return nil, sh.head, Read
	}
	return frames, at, Wait
}

// Caught reports that everything of the channel up to through is with the reader.
func (s *Subscription) Caught(through int64) {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s.last = max(s.last, through)
}

// Close ends the subscription; nothing of it is written afterwards.
func (s *Subscription) Close() {
	sh := s.reader.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if s.gone {
		return
	}
	s.gone = true
	if s.at != notDirect {
		s.topic.drop(s)
	}
	if s.topic.count--; s.topic.count == 0 && sh.topics[s.channel] == s.topic {
		delete(sh.topics, s.channel)
	}
}
