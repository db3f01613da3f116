package broker

import (
	"runtime"
	"sync"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

const (
	// joinTime is how long a busy shard waits for more before it writes. An idle
	// one writes at once.
	joinTime = 2 * time.Millisecond
	// joinMore is how much longer for each reader that it has just written to: a tenth
	// of what the write took, for what comes late to be in the next one.
	joinMore = time.Microsecond
	// maxNewest is how much a channel remembers of what has no number.
	maxNewest = 256
	// breath is after how many writes a sweep lets others run.
	breath = 256
	// sweepEvents is how many events one sweep takes at most.
	sweepEvents = 128
)

// shard owns some of the readers. What it is given waits in the inbox; its one
// goroutine takes it and writes it to the readers of each channel.
type shard struct {
	broker *Broker
	wake   chan struct{}
	stop   chan struct{}
	done   chan struct{}

	in struct {
		sync.Mutex
		events []*entry
		news   []*news // at most one of each key
	}

	mu     sync.Mutex // held during a sweep
	head   int64      // every event up to here was swept
	topics map[feed.Channel]*topic
	dirty  []*topic // of this sweep
	joined []byte   // of one topic
}

// topic is a channel with readers in this shard.
type topic struct {
	count  int             // subscriptions, whether they are direct or not
	direct []*Subscription // that have everything up to the shard's head
	frames [][]byte        // of this sweep
	newest []*news         // one of each kind, for those who lag
	fresh  bool            // newest has some that were not written
}

type newsKey struct {
	channel feed.Channel
	kind    feed.Type
	subject string
}

// news is a frame without a number.
type news struct {
	key   newsKey
	frame []byte
	fresh bool
}

func (s *shard) deliver(e *entry) {
	s.in.Lock()
	s.in.events = append(s.in.events, e)
	s.in.Unlock()
	signal(s.wake)
}

func (s *shard) publish(n *news) {
	s.in.Lock()
	defer s.in.Unlock()
	for i, o := range s.in.news {
		if o.key == n.key {
			s.in.news[i] = n
			return
		}
	}
	s.in.news = append(s.in.news, n)
	signal(s.wake)
}

func (s *shard) take() (events []*entry, some []*news, more bool) {
	s.in.Lock()
	defer s.in.Unlock()
	n := min(len(s.in.events), sweepEvents)
	events, s.in.events = s.in.events[:n:n], s.in.events[n:]
	some, s.in.news = s.in.news, nil
	if len(s.in.events) == 0 {
		s.in.events = nil
	}
	return events, some, len(s.in.events) > 0
}

func (s *shard) run() {
	defer close(s.done)
	pause := time.NewTimer(0) // has run out unless the last sweep was just now
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
			var some []*news
			events, some, more = s.take()
			written += s.sweep(events, some)
		}
		pause.Reset(joinTime + time.Duration(written)*joinMore)
	}
}

// sweep writes what came to everybody who listens, and tells to how many. Nobody is
// waited for.
func (s *shard) sweep(events []*entry, some []*news) (written int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		for i := range e.msg.Links {
			if t := s.topics[e.msg.Links[i].Channel]; t != nil {
				s.mark(t)
				t.frames = append(t.frames, e.frame(i))
			}
		}
	}
	for _, n := range some {
		if t := s.topics[n.key.channel]; t != nil {
			s.mark(t)
			t.renew(&news{key: n.key, frame: n.frame, fresh: true})
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

// mark makes a topic one of this sweep.
func (s *shard) mark(t *topic) {
	if len(t.frames) == 0 && !t.fresh {
		s.dirty = append(s.dirty, t)
	}
}

func (t *topic) renew(n *news) {
	t.fresh = true
	for i, o := range t.newest {
		if o.key == n.key {
			t.newest[i] = n
			return
		}
	}
	if len(t.newest) == maxNewest {
		t.newest = append(t.newest[:0], t.newest[1:]...)
	}
	t.newest = append(t.newest, n)
}

// write hands a topic's frames to its readers. One that is full has everything up
// to before, or up to the head when some of these bytes went out.
func (s *shard) write(t *topic, before int64) {
	s.joined = s.joined[:0]
	for _, f := range t.frames {
		s.joined = append(s.joined, f...)
	}
	for _, n := range t.newest {
		if n.fresh {
			s.joined = append(s.joined, n.frame...)
			n.fresh = false
		}
	}
	clear(t.frames)
	t.frames, t.fresh = t.frames[:0], false
	for i, n := 0, 1; i < len(t.direct); n++ {
		if n%breath == 0 {
			runtime.Gosched() // or on one core nothing else happens for as long as a sweep takes
		}
		sub := t.direct[i]
		switch sub.reader.direct(s.joined) {
		case through:
			i++
			continue
		case begun:
			sub.last = s.head
		case full:
			sub.last = before
		}
		t.drop(sub)
		sub.reader.lag(sub)
	}
}

// add makes a subscription direct.
func (t *topic) add(sub *Subscription) {
	sub.at = len(t.direct)
	t.direct = append(t.direct, sub)
}

// drop takes a direct subscription out.
func (t *topic) drop(sub *Subscription) {
	last := len(t.direct) - 1
	moved := t.direct[last]
	t.direct[sub.at], moved.at = moved, sub.at
	t.direct[last] = nil
	t.direct = t.direct[:last]
	sub.at = notDirect
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
