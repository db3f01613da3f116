package live

import (
	"context"
	"sync"
)

// Code is why a connection ends, as its close frame says it.
type Code struct {
	Status int
	Reason string
}

// The close codes of the service.
var (
	Normal          = Code{1000, "bye"}
	Gone            = Code{1006, ""} // the connection is no more; never sent
	GoingAway       = Code{1001, "shutdown"}
	Unsupported     = Code{1003, "text frames only"}
	NoPong          = Code{1008, "no pong"}
	TooLarge        = Code{1009, "frame too large"}
	Unauthenticated = Code{4001, "unauthenticated"}
	SlowConsumer    = Code{4008, "slow_consumer"}
	RateLimited     = Code{4029, "rate_limited"}
)

// What may wait for one reader, whichever comes first. A replay fills half of
// it, so that it leaves room for what happens meanwhile.
const (
	MaxFrames = 256
	MaxBytes  = 64 << 10
)

// Queue holds the frames that wait for one reader. Nothing is allocated while
// the reader keeps up. Frames are shared and must not be changed.
//
// A burst may be longer than the queue, however quick the reader is. So an event
// that does not fit makes its subscription lag: it goes on from the hub's memory
// when there is room again. A reader that is slower than that memory is long, or
// takes nothing at all, is a slow consumer and loses its connection.
type Queue struct {
	mu     sync.Mutex
	frames []frame
	bytes  int
	closed bool
	code   Code
	behind []*Subscription // that lag
	wake   chan struct{}   // something to take, or closed
	room   chan struct{}   // a replay may go on, or closed
}

// frame is bytes and, for news without a number, what it replaces.
type frame struct {
	bytes []byte
	key   string
}

// NewQueue makes an empty queue.
func NewQueue() *Queue {
	return &Queue{wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Push adds a frame that cannot come later. A full queue closes with SlowConsumer.
func (q *Queue) Push(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.fits(len(b), MaxFrames, MaxBytes) {
		q.close(SlowConsumer)
		return
	}
	q.add(frame{bytes: b})
}

// event adds the frame of an event, or makes its subscription lag.
func (q *Queue) event(s *Subscription, b []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fits(len(b), MaxFrames, MaxBytes) {
		q.add(frame{bytes: b})
		return true
	}
	q.behind = append(q.behind, s)
	return false
}

// PushNewest adds a frame in place of the waiting one of the same key. It is
// dropped when there is no room: the next one is newer anyway.
func (q *Queue) PushNewest(key string, b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.frames {
		if q.frames[i].key == key {
			q.bytes += len(b) - len(q.frames[i].bytes)
			q.frames[i].bytes = b
			return
		}
	}
	if q.fits(len(b), MaxFrames/2, MaxBytes/2) {
		q.add(frame{bytes: b, key: key})
	}
}

// Offer adds a frame of a replay, or tells that it has to wait. A closed queue
// takes everything and keeps nothing.
func (q *Queue) Offer(b []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return true
	}
	if !q.fits(len(b), MaxFrames/2, MaxBytes/2) {
		return false
	}
	q.add(frame{bytes: b})
	return true
}

// fits lets one frame of any size into an empty queue.
func (q *Queue) fits(n, frames, bytes int) bool {
	return len(q.frames) == 0 || len(q.frames) < frames && q.bytes+n <= bytes
}

func (q *Queue) add(f frame) {
	if q.closed {
		return
	}
	q.frames = append(q.frames, f)
	q.bytes += len(f.bytes)
	signal(q.wake)
}

// Next takes the frame that waits longest. Without one, open tells whether more
// may come; after Close it gives the code at once, frames left or not. There is
// one taker.
func (q *Queue) Next() (b []byte, code Code, open bool) {
	b, code, behind := q.take()
	q.refill(behind)
	if b == nil && behind != nil && code == (Code{}) {
		b, code, _ = q.take()
	}
	return b, code, code == Code{}
}

// take also gives the subscriptions that lag once there is room for them.
func (q *Queue) take() (b []byte, code Code, behind []*Subscription) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, q.code, nil
	}
	if len(q.frames) == 0 {
		q.frames = nil
	} else {
		f := q.frames[0]
		q.frames[0] = frame{}
		q.frames = q.frames[1:]
		q.bytes -= len(f.bytes)
		b = f.bytes
	}
	if q.roomy() {
		signal(q.room)
		behind, q.behind = q.behind, nil
	}
	return b, Code{}, behind
}

func (q *Queue) roomy() bool { return len(q.frames) < MaxFrames/4 && q.bytes < MaxBytes/4 }

// refill brings lagging subscriptions on. It runs outside the lock, which a
// delivery takes while it holds that of the hub.
func (q *Queue) refill(behind []*Subscription) {
	for _, s := range behind {
		switch step, _, _ := s.Catch(); step {
		case Live:
		case Wait:
			q.mu.Lock()
			q.behind = append(q.behind, s)
			q.mu.Unlock()
		case Read:
			q.Close(SlowConsumer)
		}
	}
}

// Wake tells that Next is worth a call.
func (q *Queue) Wake() <-chan struct{} { return q.wake }

// Room waits until a replay may go on. It ends early, with the context's error,
// when ctx ends; a closed queue has room.
func (q *Queue) Room(ctx context.Context) error {
	q.mu.Lock()
	ready := q.closed || q.roomy()
	q.mu.Unlock()
	if ready {
		return nil
	}
	select {
	case <-q.room:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Closed tells whether the queue has ended.
func (q *Queue) Closed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Close ends the queue; what waits is dropped. The first code stands.
func (q *Queue) Close(code Code) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.close(code)
}

func (q *Queue) close(code Code) {
	if q.closed {
		return
	}
	q.closed, q.code = true, code
	q.frames, q.bytes, q.behind = nil, 0, nil
	signal(q.wake)
	signal(q.room)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
