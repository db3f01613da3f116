package broker

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// HoleError says that events are missing before one that was delivered.
type HoleError struct{ Head, Seq int64 }

func (e *HoleError) Error() string {
	return fmt.Sprintf("event %d follows %d", e.Seq, e.Head)
}

// Broker hands each event, once and in order, to everybody who listens. It keeps
// the newest events in memory, so that a reader that comes back or lags needs no
// store.
type Broker struct {
	shards []*shard
	next   atomic.Uint32
	ready  atomic.Bool

	mu        sync.RWMutex
	head      int64    // number delivered last
	held      int64    // events in ring: those up to head
	forgotten int64    // replays have no event up to this number
	ring      []*entry // by number modulo length
}

// entry is an event and its frames, each built when first needed.
type entry struct {
	msg    feed.Message
	frames []atomic.Pointer[[]byte] // by link
}

// frame is what readers of a link are sent. Two shards may build it at once; the
// bytes are the same.
func (e *entry) frame(i int) []byte {
	if b := e.frames[i].Load(); b != nil {
		return *b
	}
	b := Text(EventFrame(&e.msg, e.msg.Links[i]))
	e.frames[i].Store(&b)
	return b
}

// New makes a hub that keeps memory events. It is not ready before SetReady, and
// works until Close.
func New(memory int) *Broker {
	h := &Broker{ring: make([]*entry, max(memory, 1))}
	for range runtime.GOMAXPROCS(0) {
		s := &shard{broker: h, topics: make(map[feed.Channel]*topic), wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
		h.shards = append(h.shards, s)
		go s.run()
	}
	return h
}

// Close ends the hub's own work. Readers get nothing any more.
func (h *Broker) Close() {
	for _, s := range h.shards {
		close(s.stop)
	}
	for _, s := range h.shards {
		<-s.done
	}
}

// Memory is how many events the hub keeps.
func (h *Broker) Memory() int64 { return int64(len(h.ring)) }

// Start sets the number after which the hub will be given events. It is called
// once, before the first Deliver.
func (h *Broker) Start(head int64) {
	h.mu.Lock()
	h.head = head
	h.mu.Unlock()
	h.each(func(s *shard) { s.head = head })
}

// each calls do for every shard, which is locked meanwhile.
func (h *Broker) each(do func(*shard)) {
	for _, s := range h.shards {
		s.mu.Lock()
		do(s)
		s.mu.Unlock()
	}
}

// SetReady tells that the hub has caught up with the feed.
func (h *Broker) SetReady() { h.ready.Store(true) }

// Ready tells whether the hub has caught up with the feed once.
func (h *Broker) Ready() bool { return h.ready.Load() }

// Head is the number delivered last.
func (h *Broker) Head() int64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.head
}

// Deliver hands on the next event. One that was delivered before is ignored; one
// that does not follow is refused with a HoleError. Calls come one after the other.
func (h *Broker) Deliver(m feed.Message) error {
	e := &entry{msg: m, frames: make([]atomic.Pointer[[]byte], len(m.Links))}
	h.mu.Lock()
	switch {
	case m.Seq <= h.head:
		h.mu.Unlock()
		return nil
	case m.Seq != h.head+1:
		defer h.mu.Unlock()
		return &HoleError{Head: h.head, Seq: m.Seq}
	}
	h.ring[m.Seq%int64(len(h.ring))] = e
	h.head = m.Seq
	h.held = min(h.held+1, int64(len(h.ring)))
	h.mu.Unlock()
	for _, s := range h.shards {
		s.deliver(e)
	}
	return nil
}

// Publish hands on news without a number: the newest of its kind on its channel
// replaces what still waits.
func (h *Broker) Publish(e feed.Ephemeral) {
	n := &news{key: newsKey{e.Channel, e.Type, e.Subject}, frame: Text(EphemeralFrame(&e))}
	for _, s := range h.shards {
		s.publish(n)
	}
}

// Count is the number of subscriptions.
func (h *Broker) Count() int {
	n := 0
	h.each(func(s *shard) {
		for _, t := range s.topics {
			n += t.count
		}
	})
	return n
}

// Readers is the number of subscriptions to a channel.
func (h *Broker) Readers(c feed.Channel) int {
	n := 0
	h.each(func(s *shard) {
		if t := s.topics[c]; t != nil {
			n += t.count
		}
	})
	return n
}

// Markets are the markets that somebody follows, with how many do.
func (h *Broker) Markets() map[string]int {
	out := make(map[string]int)
	h.each(func(s *shard) {
		for c, t := range s.topics {
			if id := c.MarketID(); id != "" {
				out[id] += t.count
			}
		}
	})
	return out
}

// remember collects frames of a channel behind a number and up to another from
// memory, some chunkBytes of them; through is how far it looked. It fails when the
// memory begins behind the number. A replay gets no event from before Forget.
func (h *Broker) remember(c feed.Channel, after, upTo int64, replay bool) (frames []byte, through int64, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if after < h.head-h.held || replay && after < h.forgotten {
		return nil, after, false
	}
	for through = after; through < upTo && len(frames) < chunkBytes; through++ {
		e := h.ring[(through+1)%int64(len(h.ring))]
		for i := range e.msg.Links {
			if e.msg.Links[i].Channel == c {
				frames = append(frames, e.frame(i)...)
			}
		}
	}
	return frames, through, true
}

// Forget ends replays of all delivered events from memory; later ones read the store. A subscription that is live and lags
// still receives them: it would have had them in time, and has no store to read.
func (h *Broker) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgotten = h.head
}

// Recent gives up to limit events behind a number from memory. It fails when the
// memory begins behind the number.
func (h *Broker) Recent(after int64, limit int) ([]feed.Message, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if after < max(h.head-h.held, h.forgotten) {
		return nil, false
	}
	n := min(max(h.head-after, 0), int64(limit))
	out := make([]feed.Message, n)
	for i := range out {
		out[i] = h.ring[(after+1+int64(i))%int64(len(h.ring))].msg
	}
	return out, true
}
