package live

import (
	"fmt"
	"sync"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// HoleError says that events are missing before one that was delivered.
type HoleError struct{ Head, Seq int64 }

func (e *HoleError) Error() string {
	return fmt.Sprintf("event %d follows %d", e.Seq, e.Head)
}

// Hub hands each event, once and in order, to everybody who listens. It keeps
// the newest events in memory, so that a reader that comes back needs no store.
type Hub struct {
	mu     sync.Mutex
	head   int64    // number delivered last
	held   int64    // events in ring: those up to head
	ring   []*entry // by number modulo length
	topics map[feed.Channel]map[*Subscription]struct{}
	ready  bool
}

// entry is an event and its frames, each built when first needed.
type entry struct {
	msg    feed.Message
	frames [][]byte // by link
}

func (e *entry) frame(i int) []byte {
	if e.frames[i] == nil {
		e.frames[i] = EventFrame(&e.msg, e.msg.Links[i])
	}
	return e.frames[i]
}

// DefaultMemory is how many events a hub keeps: with frames some four megabytes.
const DefaultMemory = 4096

// NewHub makes a hub that keeps memory events. It is not ready before Ready.
func NewHub(memory int) *Hub {
	return &Hub{ring: make([]*entry, max(memory, 1)), topics: make(map[feed.Channel]map[*Subscription]struct{})}
}

// Memory is how many events the hub keeps.
func (h *Hub) Memory() int64 { return int64(len(h.ring)) }

// Start sets the number after which the hub will be given events. It is called
// once, before the first Deliver.
func (h *Hub) Start(head int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.head = head
}

// SetReady tells that the hub has caught up with the feed.
func (h *Hub) SetReady() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = true
}

// Ready tells whether the hub has caught up with the feed once.
func (h *Hub) Ready() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ready
}

// Head is the number delivered last.
func (h *Hub) Head() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.head
}

// Deliver hands on the next event. One that was delivered before is ignored; one
// that does not follow is refused with a HoleError.
func (h *Hub) Deliver(m feed.Message) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case m.Seq <= h.head:
		return nil
	case m.Seq != h.head+1:
		return &HoleError{Head: h.head, Seq: m.Seq}
	}
	e := &entry{msg: m, frames: make([][]byte, len(m.Links))}
	h.ring[m.Seq%int64(len(h.ring))] = e
	h.head = m.Seq
	h.held = min(h.held+1, int64(len(h.ring)))
	for i, l := range m.Links {
		for s := range h.topics[l.Channel] {
			if s.live && m.Seq > s.last && !s.queue.event(s, e.frame(i)) {
				s.live, s.last = false, m.Seq-1
			}
		}
	}
	return nil
}

// Publish hands on news without a number. It is dropped for readers that are
// still catching up.
func (h *Hub) Publish(e feed.Ephemeral) {
	h.mu.Lock()
	defer h.mu.Unlock()
	readers := h.topics[e.Channel]
	if len(readers) == 0 {
		return
	}
	frame := EphemeralFrame(&e)
	key := string(e.Type) + " " + string(e.Channel)
	for s := range readers {
		if s.live {
			s.queue.PushNewest(key, frame)
		}
	}
}

// Count is the number of subscriptions.
func (h *Hub) Count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, readers := range h.topics {
		n += len(readers)
	}
	return n
}
