package broker

import (
	"context"
	"sync"
	"time"
)

// Pipe is the connection of a reader.
type Pipe interface {
	// Try writes what the connection takes at once and never waits.
	Try(b []byte) (n int, err error)
	// Put writes everything, and fails when the connection takes nothing for the
	// time given.
	Put(b []byte, within time.Duration) error
	// Ended tells that the last frame was written.
	Ended()
	// Cut ends the connection without a word.
	Cut()
}

// What may wait for one reader of what cannot come later: answers to its own
// frames, beats. Whichever comes first.
const (
	MaxFrames = 256
	MaxBytes  = 64 << 10
)

const (
	// chunkBytes is about how much a reader that lags is written at once.
	chunkBytes = 32 << 10
	// patience is how long a connection may take nothing while something waits.
	patience = 5 * time.Second
)

// Reader is one connection. While it keeps up nothing waits and no goroutine is
// busy with it. When the connection is full, the rest of what was begun and all
// that follows is written by one goroutine, which ends when it has caught up.
type Reader struct {
	shard *shard
	pipe  Pipe

	mu      sync.Mutex // taken after the shard's
	rest    []byte     // to be written before anything else
	waiting int        // frames in rest that cannot come later
	bytes   int        // of these frames
	busy    bool       // the goroutine runs
	behind  []*Subscription
	closed  bool
	cut     bool
	code    Code
	room    chan struct{} // made by those who wait for it
}

// NewReader makes the reader of a connection.
func (h *Broker) NewReader(p Pipe) *Reader {
	return &Reader{shard: h.shards[int(h.next.Add(1))%len(h.shards)], pipe: p}
}

// taken is what became of a write.
type taken uint8

const (
	through taken = iota // all of it went out
	begun                // some did, and the rest will
	full                 // nothing
)

// direct writes to a reader that keeps up.
func (r *Reader) direct(b []byte) taken {
	if !r.mu.TryLock() {
		return full // it is being written to
	}
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return through // and nothing is missed
	case r.busy:
		return full
	}
	return r.try(b)
}

// try writes what the connection takes and leaves the rest to the goroutine.
func (r *Reader) try(b []byte) taken {
	n, err := r.pipe.Try(b)
	switch {
	case err != nil:
		r.end(Gone)
		return through
	case n == len(b):
		return through
	}
	r.rest = append([]byte(nil), b[n:]...)
	r.start()
	return begun
}

func (r *Reader) start() {
	if !r.busy {
		r.busy = true
		go r.work()
	}
}

// lag takes a subscription that goes on from the hub's memory.
func (r *Reader) lag(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.behind = append(r.behind, s)
	r.start()
}

// Push sends a frame that cannot come later, behind one that is half written. When too much waits, the reader is a
// slow consumer.
func (r *Reader) Push(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.push(b)
}

func (r *Reader) push(b []byte) {
	switch {
	case r.closed:
	case !r.busy:
		r.try(b)
	case r.waiting >= MaxFrames || r.bytes+len(b) > MaxBytes:
		r.end(SlowConsumer)
	default:
		r.waiting, r.bytes = r.waiting+1, r.bytes+len(b)
		r.rest = append(r.rest, b...)
	}
}

// Offer sends a piece of a replay, or tells that it has to wait for Room. A closed
// reader takes everything.
func (r *Reader) Offer(b []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
	case !r.busy:
		r.try(b)
	case len(r.rest) >= MaxBytes/2:
		return false
	default:
		r.rest = append(r.rest, b...)
	}
	return true
}

// Room waits until a replay may go on. It ends early, with the context's error,
// when ctx ends; a closed reader has room.
func (r *Reader) Room(ctx context.Context) error {
	r.mu.Lock()
	if r.closed || !r.busy || len(r.rest) < MaxBytes/4 {
		r.mu.Unlock()
		return nil
	}
	if r.room == nil {
		r.room = make(chan struct{})
	}
	room := r.room
	r.mu.Unlock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the reader: what waits is still written, and then the code is said.
// The first code stands.
func (r *Reader) Close(code Code) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(code)
}

// Closed tells whether the reader has ended.
func (r *Reader) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

func (r *Reader) end(code Code) {
	if r.closed {
		return
	}
	r.closed, r.code, r.behind = true, code, nil
	r.roomy()
	if code == Gone {
		r.rest = nil
		r.stop()
		return
	}
	frame := code.frame()
	if !r.busy {
		n, err := r.pipe.Try(frame)
		switch {
		case err != nil:
			r.stop()
			return
		case n == len(frame):
			r.pipe.Ended()
			return
		}
		frame = frame[n:]
	}
	r.rest = append(r.rest, frame...)
	r.start()
}

// stop cuts the connection, once.
func (r *Reader) stop() {
	if !r.cut {
		r.cut = true
		r.pipe.Cut()
	}
}

func (r *Reader) roomy() {
	if r.room != nil {
		close(r.room)
		r.room = nil
	}
}

// work writes what waits and brings those on who lag, until nothing is left.
func (r *Reader) work() {
	for {
		b, behind, more := r.turn()
		switch {
		case !more:
			return
		case len(b) > 0:
			if err := r.pipe.Put(b, patience); err != nil {
				r.stuck()
			}
		default:
			r.bring(behind)
		}
	}
}

// turn takes what is to be done next.
func (r *Reader) turn() (b []byte, behind []*Subscription, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, r.rest, r.waiting, r.bytes = r.rest, nil, 0, 0
	switch {
	case r.cut:
		r.busy = false
		return nil, nil, false
	case len(b) > 0:
		r.roomy()
		return b, nil, true
	case r.closed:
		r.busy = false
		r.pipe.Ended()
		return nil, nil, false
	case len(r.behind) > 0:
		behind, r.behind = r.behind, nil
		return nil, behind, true
	}
	r.roomy()
	r.busy = false
	return nil, nil, false
}

// stuck ends a connection that took nothing for too long, or is gone.
func (r *Reader) stuck() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed, r.code, r.behind = true, SlowConsumer, nil
		r.roomy()
	}
	r.rest = nil
	r.stop()
}

// bring takes those who lag one chunk on.
func (r *Reader) bring(behind []*Subscription) {
	for _, s := range behind {
		frames, step := s.advance()
		r.mu.Lock()
		switch {
		case r.closed:
		case step == Read:
			r.end(SlowConsumer)
		default:
			r.rest = append(r.rest, frames...)
			if step != Live {
				r.behind = append(r.behind, s)
			}
		}
		r.mu.Unlock()
	}
}

// Code is why the reader ended; zero while it has not.
func (r *Reader) Code() Code {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.code
}
