package broker

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/signalcast/signalcast/services/api/internal/feed"
)

// GapError is returned for an event whose predecessor was not delivered: event Seq arrived after event Head.
type GapError struct{ Head, Seq int64 }

func (e *GapError) Error() string {
	return fmt.Sprintf("event %d arrived after event %d; events between them are missing", e.Seq, e.Head)
}

// Broker delivers each event of the feed, once and in order, to all readers of this process. It stores the newest events in
// memory, so a reader that resumes or lags rarely needs the database. Its methods are safe for concurrent use unless their
// comments say otherwise.
type Broker struct {
	shards []*shard
	next   atomic.Uint32
	ready  atomic.Bool

	mu          sync.RWMutex
	head        int64    // number of the event delivered last
	stored      int64    // number of events in ring; the newest is head
	replayFloor int64    // a replay from memory must start at or after this number
	ring        []*entry // ring buffer: event n has index n modulo the length
}

// entry is an event in memory with the websocket frame for each of its channels. A frame is built when it is first needed.
type entry struct {
	msg    feed.Message
	frames []atomic.Pointer[[]byte] // one for each link of msg
}

// frame returns the websocket frame of the event for the channel of its i-th link. Two shards may build the frame at the same
// time; the results are equal.
func (e *entry) frame(i int) []byte {
	if b := e.frames[i].Load(); b != nil {
		return *b
	}
	b := Text(EventFrame(&e.msg, e.msg.Links[i]))
	e.frames[i].Store(&b)
	return b
}

// New returns a broker that stores the given number of newest events in memory, and starts its goroutines. Close stops them.
// The broker is not ready until SetReady is called.
func New(memory int) *Broker {
	b := &Broker{ring: make([]*entry, max(memory, 1))}
	for range runtime.GOMAXPROCS(0) {
		s := &shard{broker: b, topics: make(map[feed.Channel]*topic), wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
		b.shards = append(b.shards, s)
		go s.run()
	}
	return b
}

// Close stops the goroutines of the broker and waits for them. Readers receive no further events.
func (b *Broker) Close() {
	for _, s := range b.shards {
		close(s.stop)
	}
	for _, s := range b.shards {
		<-s.done
	}
}

// Memory returns the maximum number of events that the broker stores in memory.
func (b *Broker) Memory() int64 { return int64(len(b.ring)) }

// Start sets the number of the event that precedes the first delivered event. It must be called at most once, before Deliver.
func (b *Broker) Start(head int64) {
	b.mu.Lock()
	b.head = head
	b.mu.Unlock()
	b.each(func(s *shard) { s.head = head })
}

// each locks one shard after the other, and calls the function do with the locked shard.
func (b *Broker) each(do func(*shard)) {
	for _, s := range b.shards {
		s.mu.Lock()
		do(s)
		s.mu.Unlock()
	}
}

// SetReady marks the broker as ready. It must be called when the broker has delivered the newest events of the feed.
func (b *Broker) SetReady() { b.ready.Store(true) }

// Ready reports whether SetReady was called. Until then, the process rejects readers.
func (b *Broker) Ready() bool { return b.ready.Load() }

// Head returns the number of the event delivered last.
func (b *Broker) Head() int64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.head
}

// Deliver sends the next event to the readers of its channels. It ignores an event that was delivered before. It returns a
// GapError for an event that does not follow Head. It must not be called concurrently.
func (b *Broker) Deliver(m feed.Message) error {
	e := &entry{msg: m, frames: make([]atomic.Pointer[[]byte], len(m.Links))}
	b.mu.Lock()
	switch {
	case m.Seq <= b.head:
		b.mu.Unlock()
		return nil
	case m.Seq != b.head+1:
		defer b.mu.Unlock()
		return &GapError{Head: b.head, Seq: m.Seq}
	}
	b.ring[m.Seq%int64(len(b.ring))] = e
	b.head = m.Seq
	b.stored = min(b.stored+1, int64(len(b.ring)))
	b.mu.Unlock()
	for _, s := range b.shards {
		s.deliver(e)
	}
	return nil
}

// Publish sends an event without a number to the readers of its channel. If an earlier event with the same channel, type and
// subject is still queued, the new event replaces it.
func (b *Broker) Publish(e feed.Ephemeral) {
	n := &ephemeral{key: ephemeralKey{e.Channel, e.Type, e.Subject}, frame: Text(EphemeralFrame(&e))}
	for _, s := range b.shards {
		s.publish(n)
	}
}

// Count returns the number of subscriptions to all channels.
func (b *Broker) Count() int {
	n := 0
	b.each(func(s *shard) {
		for _, t := range s.topics {
			n += t.count
		}
	})
	return n
}

// Readers returns the number of subscriptions to a channel.
func (b *Broker) Readers(c feed.Channel) int {
	n := 0
	b.each(func(s *shard) {
		if t := s.topics[c]; t != nil {
			n += t.count
		}
	})
	return n
}

// Channels returns the number of subscriptions to each channel. Channels without a subscription are absent.
func (b *Broker) Channels() map[feed.Channel]int {
	out := make(map[feed.Channel]int)
	b.each(func(s *shard) {
		for c, t := range s.topics {
			out[c] += t.count
		}
	})
	return out
}

// Markets returns the number of subscriptions to the channel of each market, by market id. Markets without a subscription are
// absent.
func (b *Broker) Markets() map[string]int {
	out := make(map[string]int)
	for c, n := range b.Channels() {
		if id := c.MarketID(); id != "" {
			out[id] = n
		}
	}
	return out
}

// MarketsOf returns the market ids of the events of a type after a number, as far as they are in memory, and the number up to
// which it has searched.
func (b *Broker) MarketsOf(kind feed.Type, after int64) (ids []string, through int64) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for n := max(after, b.head-b.stored) + 1; n <= b.head; n++ {
		e := b.ring[n%int64(len(b.ring))]
		if e.msg.Type != kind {
			continue
		}
		for _, l := range e.msg.Links {
			if id := l.Channel.MarketID(); id != "" {
				ids = append(ids, id)
			}
		}
	}
	return ids, b.head
}

// replayFrames returns the frames of the events of channel c with after < number <= upTo, up to about chunkBytes. through is
// the number up to which it has searched. ok is false if not all of these events are in memory. If replay is true, ok is
// also false if after is below the number that Forget has stored.
func (b *Broker) replayFrames(c feed.Channel, after, upTo int64, replay bool) (frames []byte, through int64, ok bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if after < b.head-b.stored || replay && after < b.replayFloor {
		return nil, after, false
	}
	for through = after; through < upTo && len(frames) < chunkBytes; through++ {
		e := b.ring[(through+1)%int64(len(b.ring))]
		for i := range e.msg.Links {
			if e.msg.Links[i].Channel == c {
				frames = append(frames, e.frame(i)...)
			}
		}
	}
	return frames, through, true
}

// Forget makes replays read all events delivered so far from the database instead of memory, for example after their texts were
// hidden. Live subscriptions that lag still receive these events from memory. Without the lag they would already have received
// them, and they cannot read the database.
func (b *Broker) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replayFloor = b.head
}

// Recent returns up to limit events after a number from memory, in order. ok is false if some of them are no longer in memory
// or were delivered before the last Forget.
func (b *Broker) Recent(after int64, limit int) ([]feed.Message, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if after < max(b.head-b.stored, b.replayFloor) {
		return nil, false
	}
	n := min(max(b.head-after, 0), int64(limit))
	out := make([]feed.Message, n)
	for i := range out {
		out[i] = b.ring[(after+1+int64(i))%int64(len(b.ring))].msg
	}
	return out, true
}
