package broker

import (
	"context"
	"sync"
	"time"
)

// Conn is the connection to which a Reader writes frames.
type Conn interface {
	// TryWrite writes as many bytes as the connection accepts without blocking, and returns their number.
	TryWrite(b []byte) (n int, err error)
	// Write writes all bytes, and may block. It returns an error if the connection accepts no byte for the time within.
	Write(b []byte, within time.Duration) error
	// Finish is called once, after the close frame was written. No other method is called after it.
	Finish()
	// Abort closes the connection without a close frame. It is called at most once.
	Abort()
}

// Limits of the queue of one reader, for frames that cannot be replayed, such as replies and heartbeats. A reader that exceeds
// one of the limits is closed as a slow consumer.
const (
	MaxFrames = 256
	MaxBytes  = 64 << 10
)

const (
	// chunkBytes is the approximate size, in bytes, of one write to a reader that lags.
	chunkBytes = 32 << 10
	// writeTimeout is the time for which a connection may accept no byte of a pending write. After it, the connection is
	// aborted.
	writeTimeout = 5 * time.Second
)

// Reader writes frames to one connection. While the connection accepts all bytes, the shard writes to it directly. When it
// accepts no more bytes, a goroutine of the reader writes the rest of the frame and all later frames. The goroutine ends when
// everything is written.
type Reader struct {
	shard *shard
	conn  Conn

	mu           sync.Mutex // acquired after the lock of the shard, never before
	pending      []byte     // bytes that are written before any other
	queuedFrames int        // number of frames in pending that cannot be replayed
	queuedBytes  int        // size of these frames in bytes
	writing      bool       // the goroutine of writeLoop runs
	lagging      []*Subscription
	closed       bool
	aborted      bool
	code         Code
	space        chan struct{} // closed when the queue has space; nil if no caller waits
}

// NewReader returns a reader that writes to p, and assigns it to the next shard in rotation.
func (b *Broker) NewReader(p Conn) *Reader {
	return &Reader{shard: b.shards[int(b.next.Add(1))%len(b.shards)], conn: p}
}

// writeResult states how many of the given bytes writeDirect or write has written.
type writeResult uint8

const (
	written writeResult = iota // the connection accepted all bytes, or the reader is closed
	partial                    // the goroutine of the reader writes the remaining bytes
	blocked                    // nothing was written, because the reader lags
)

// writeDirect writes b to the connection without waiting. If the reader lags, or if another goroutine uses it, writeDirect
// writes nothing and returns the result blocked.
func (r *Reader) writeDirect(b []byte) writeResult {
	if !r.mu.TryLock() {
		return blocked // another goroutine uses the reader
	}
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return written // a closed reader needs no bytes
	case r.writing:
		return blocked
	}
	return r.write(b)
}

// write writes the bytes that the connection accepts at once. If bytes remain, it starts the goroutine of the reader, which
// writes them. If the connection fails, it closes the reader with ConnLost. The caller must hold the lock of the reader.
func (r *Reader) write(b []byte) writeResult {
	n, err := r.conn.TryWrite(b)
	switch {
	case err != nil:
		r.end(ConnLost)
		return written
	case n == len(b):
		return written
	}
	r.pending = append([]byte(nil), b[n:]...)
	r.start()
	return partial
}

func (r *Reader) start() {
	if !r.writing {
		r.writing = true
		go r.writeLoop()
	}
}

// addLagging adds a lagging subscription to the reader. The goroutine of the reader then sends it the missed events from the
// memory of the broker. If the reader is closed, addLagging does nothing.
func (r *Reader) addLagging(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.lagging = append(r.lagging, s)
	r.start()
}

// Push queues a frame that cannot be replayed. It follows the frames queued before. If the queue exceeds MaxFrames or MaxBytes,
// the reader is closed as a slow consumer.
func (r *Reader) Push(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.push(b)
}

func (r *Reader) push(b []byte) {
	switch {
	case r.closed:
	case !r.writing:
		r.write(b)
	case r.queuedFrames >= MaxFrames || r.queuedBytes+len(b) > MaxBytes:
		r.end(SlowConsumer)
	default:
		r.queuedFrames, r.queuedBytes = r.queuedFrames+1, r.queuedBytes+len(b)
		r.pending = append(r.pending, b...)
	}
}

// Offer writes or queues a part of a replay. It returns false if the queue is full; the caller must then call WaitForSpace. A
// closed reader accepts and discards everything.
func (r *Reader) Offer(b []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
	case !r.writing:
		r.write(b)
	case len(r.pending) >= MaxBytes/2:
		return false
	default:
		r.pending = append(r.pending, b...)
	}
	return true
}

// WaitForSpace waits until the queue of the reader has space for Offer. It returns the error of ctx if ctx ends first, and nil
// for a closed reader.
func (r *Reader) WaitForSpace(ctx context.Context) error {
	r.mu.Lock()
	if r.closed || !r.writing || len(r.pending) < MaxBytes/4 {
		r.mu.Unlock()
		return nil
	}
	if r.space == nil {
		r.space = make(chan struct{})
	}
	space := r.space
	r.mu.Unlock()
	select {
	case <-space:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the reader with a code: it writes the queued frames and then the close frame. Later calls do nothing.
func (r *Reader) Close(code Code) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(code)
}

// Closed reports whether the reader is closed. Its last frames may not be written yet.
func (r *Reader) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

func (r *Reader) end(code Code) {
	if r.closed {
		return
	}
	r.closed, r.code, r.lagging = true, code, nil
	r.signalSpace()
	if code == ConnLost {
		r.pending = nil
		r.abortConn()
		return
	}
	frame := code.frame()
	if !r.writing {
		n, err := r.conn.TryWrite(frame)
		switch {
		case err != nil:
			r.abortConn()
			return
		case n == len(frame):
			r.conn.Finish()
			return
		}
		frame = frame[n:]
	}
	r.pending = append(r.pending, frame...)
	r.start()
}

// abortConn aborts the connection, unless it was aborted before.
func (r *Reader) abortConn() {
	if !r.aborted {
		r.aborted = true
		r.conn.Abort()
	}
}

func (r *Reader) signalSpace() {
	if r.space != nil {
		close(r.space)
		r.space = nil
	}
}

// writeLoop writes the queued bytes and the missed events of lagging subscriptions until nothing is left. If a write fails, it
// aborts the connection.
func (r *Reader) writeLoop() {
	for {
		b, lagging, more := r.next()
		switch {
		case !more:
			return
		case len(b) > 0:
			if err := r.conn.Write(b, writeTimeout); err != nil {
				r.abort()
			}
		default:
			r.advanceLagging(lagging)
		}
	}
}

// next returns the bytes to write next or, if there are none, the lagging subscriptions. more is false if nothing is left, and
// writeLoop must end. If the reader is closed and has no bytes left, next calls Finish of the connection.
func (r *Reader) next() (b []byte, lagging []*Subscription, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, r.pending, r.queuedFrames, r.queuedBytes = r.pending, nil, 0, 0
	switch {
	case r.aborted:
		r.writing = false
		return nil, nil, false
	case len(b) > 0:
		r.signalSpace()
		return b, nil, true
	case r.closed:
		r.writing = false
		r.conn.Finish()
		return nil, nil, false
	case len(r.lagging) > 0:
		lagging, r.lagging = r.lagging, nil
		return nil, lagging, true
	}
	r.signalSpace()
	r.writing = false
	return nil, nil, false
}

// abort closes a reader without a close frame, after its connection failed or accepted no byte for writeTimeout. Its code is
// SlowConsumer, unless it was closed before.
func (r *Reader) abort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed, r.code, r.lagging = true, SlowConsumer, nil
		r.signalSpace()
	}
	r.pending = nil
	r.abortConn()
}

// advanceLagging queues the next chunk of missed events of each lagging subscription. If such events are no longer in memory,
// it closes the reader as a slow consumer.
func (r *Reader) advanceLagging(lagging []*Subscription) {
	for _, s := range lagging {
		frames, step := s.advance()
		r.mu.Lock()
		switch {
		case r.closed:
		case step == Read:
			r.end(SlowConsumer)
		default:
			r.pending = append(r.pending, frames...)
			if step != Live {
				r.lagging = append(r.lagging, s)
			}
		}
		r.mu.Unlock()
	}
}

// Code returns the code with which the reader was closed, or the zero value while it is open.
func (r *Reader) Code() Code {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.code
}
