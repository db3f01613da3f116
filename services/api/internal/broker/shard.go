package broker

import (
	"runtime"
	"sync"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

const (
	// batchDelay is the time that a busy shard waits for more events before its next flush. A shard without recent events
	// flushes at once.
	batchDelay = 2 * time.Millisecond
	// delayPerReader is added to batchDelay for each write of the previous flush, so that a large audience gets fewer and
	// larger writes. It is about a tenth of the duration of a write.
	delayPerReader = time.Microsecond
	// maxNewest is the maximum number of events without a number that a topic stores for lagging readers. It must not be less than
	// the number of subjects of a channel that change in one second.
	maxNewest = 20_000
	// yieldEvery is the number of writes after which a flush lets other goroutines run.
	yieldEvery = 256
	// maxFlushEvents is the maximum number of numbered events of one flush.
	maxFlushEvents = 128
)

// shard contains a part of the readers of a Broker, and runs the goroutine that writes to them. New events are queued in its
// inbox (field in). A flush writes the queued events to the readers of each channel.
type shard struct {
	broker *Broker
	wake   chan struct{}
	stop   chan struct{}
	done   chan struct{}

	in struct {
		sync.Mutex
		events     []*entry
		ephemerals []*ephemeral // events without a number, at most one per key
		index      map[ephemeralKey]int
	}

	mu     sync.Mutex // locked during a flush
	head   int64      // number of the last flushed event
	topics map[feed.Channel]*topic
	dirty  []*topic // topics with frames that the current flush must write
	joined []byte   // frames of one topic, joined for a single write; reused
}

// topic is a channel to which readers of the shard are subscribed.
type topic struct {
	count   int             // number of subscriptions, direct or not
	direct  []*Subscription // subscriptions that have every event up to head of the shard; a flush writes to them
	frames  [][]byte        // frames of the current flush
	newest  newest          // events without a number
	flushed int64           // number of the last change of newest that a flush has written
}

// ephemeralKey identifies events without a number that replace each other: only the newest event of a key matters.
type ephemeralKey struct {
	channel feed.Channel
	kind    feed.Type
	subject string
}

// ephemeral is the websocket frame of an event without a number.
type ephemeral struct {
	key   ephemeralKey
	frame []byte
}

func (s *shard) deliver(e *entry) {
	s.in.Lock()
	s.in.events = append(s.in.events, e)
	s.in.Unlock()
	signal(s.wake)
}

func (s *shard) publish(n *ephemeral) {
	s.in.Lock()
	defer s.in.Unlock()
	if i, found := s.in.index[n.key]; found {
		s.in.ephemerals[i] = n
		return
	}
	if s.in.index == nil {
		s.in.index = make(map[ephemeralKey]int)
	}
	s.in.index[n.key] = len(s.in.ephemerals)
	s.in.ephemerals = append(s.in.ephemerals, n)
	signal(s.wake)
}

// takeInbox removes events from the inbox and returns them: at most maxFlushEvents numbered events, and all events without a
// number. more reports whether numbered events remain.
func (s *shard) takeInbox() (events []*entry, ephemerals []*ephemeral, more bool) {
	s.in.Lock()
	defer s.in.Unlock()
	n := min(len(s.in.events), maxFlushEvents)
	events, s.in.events = s.in.events[:n:n], s.in.events[n:]
	ephemerals, s.in.ephemerals, s.in.index = s.in.ephemerals, nil, nil
	if len(s.in.events) == 0 {
		s.in.events = nil
	}
	return events, ephemerals, len(s.in.events) > 0
}

func (s *shard) run() {
	defer close(s.done)
	pause := time.NewTimer(0) // not expired only after a recent flush
	defer pause.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		}
		select {
		case <-s.stop:
			return
		case <-pause.C:
		}
		written := 0
		for more := true; more; {
			var events []*entry
			var ephemerals []*ephemeral
			events, ephemerals, more = s.takeInbox()
			written += s.flush(events, ephemerals)
		}
		pause.Reset(batchDelay + time.Duration(written)*delayPerReader)
	}
}

// flush writes events to the direct subscriptions of their channels and returns the number of writes. It never blocks on a
// reader.
func (s *shard) flush(events []*entry, ephemerals []*ephemeral) (written int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		for i := range e.msg.Links {
			if t := s.topics[e.msg.Links[i].Channel]; t != nil {
				s.markDirty(t)
				t.frames = append(t.frames, e.frame(i))
			}
		}
	}
	for _, n := range ephemerals {
		if t := s.topics[n.key.channel]; t != nil {
			s.markDirty(t)
			t.newest.put(n)
		}
	}
	before := s.head
	if len(events) > 0 {
		s.head = events[len(events)-1].msg.Seq
	}
	for i, t := range s.dirty {
		written += len(t.direct)
		s.write(t, before)
		s.dirty[i] = nil
	}
	s.dirty = s.dirty[:0]
	return written
}

// markDirty adds a topic to the list dirty, unless the list contains it. It must be called before a frame is added to the
// topic.
func (s *shard) markDirty(t *topic) {
	if len(t.frames) == 0 && t.newest.last == t.flushed {
		s.dirty = append(s.dirty, t)
	}
}

// write writes the frames of a topic to its direct subscriptions. A subscription whose reader does not accept all bytes is
// no longer direct and lags. If the reader took no byte, the subscription continues after the event number in the parameter
// before. If the connection accepted a part, the reader writes the rest, and the subscription continues after s.head. If the
// events without a number do not fit into one chunk, all subscriptions lag, because the reader would store what the connection
// does not accept at once.
func (s *shard) write(t *topic, before int64) {
	s.joined = s.joined[:0]
	for _, f := range t.frames {
		s.joined = append(s.joined, f...)
	}
	clear(t.frames)
	news, through := t.newest.after(t.flushed)
	s.joined = append(s.joined, news...)
	t.frames = t.frames[:0]
	flushed := t.flushed
	t.flushed = t.newest.last
	for i, n := 0, 1; i < len(t.direct); n++ {
		if n%yieldEvery == 0 {
			runtime.Gosched() // with one core, no other goroutine would run during the flush
		}
		sub, result := t.direct[i], blocked
		if through == t.newest.last {
			result = sub.reader.writeDirect(s.joined)
		}
		switch result {
		case written:
			i++
			continue
		case partial:
			sub.last, sub.newest = s.head, t.flushed
		case blocked:
			sub.last, sub.newest = before, flushed
		}
		t.drop(sub)
		sub.reader.addLagging(sub)
	}
}

// add appends a subscription to direct and sets its index.
func (t *topic) add(sub *Subscription) {
	sub.index = len(t.direct)
	t.direct = append(t.direct, sub)
}

// drop removes a subscription from direct. The order of the other subscriptions can change.
func (t *topic) drop(sub *Subscription) {
	last := len(t.direct) - 1
	moved := t.direct[last]
	t.direct[sub.index], moved.index = moved, sub.index
	t.direct[last] = nil
	t.direct = t.direct[:last]
	sub.index = notDirect
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
