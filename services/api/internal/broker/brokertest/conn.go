package brokertest

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// Conn is a broker.Conn in memory that records the bytes that the broker writes. Its peer accepts all bytes or, after Take,
// only as many as the test allows.
type Conn struct {
	mu       sync.Mutex
	changed  *sync.Cond
	limited  bool
	space    int // if limited: number of bytes that the peer still accepts
	received []byte
	aborted  bool
	ended    bool
}

var errAborted = errors.New("the connection was aborted")

// New returns a connection whose peer accepts all bytes.
func New() *Conn {
	p := &Conn{}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// Take lets the peer accept n more bytes. The first call also sets the limit, which starts at 0.
func (p *Conn) Take(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.limited {
		p.limited, p.space = true, 0
	}
	p.space += n
	p.changed.Broadcast()
}

// TakeAll removes the limit of Take: the peer accepts all bytes.
func (p *Conn) TakeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limited = false
	p.changed.Broadcast()
}

func (p *Conn) fits(n int) int {
	if p.limited {
		return min(n, p.space)
	}
	return n
}

func (p *Conn) add(b []byte) {
	p.received = append(p.received, b...)
	if p.limited {
		p.space -= len(b)
	}
}

// TryWrite implements broker.Conn.
func (p *Conn) TryWrite(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aborted {
		return 0, errAborted
	}
	n := p.fits(len(b))
	p.add(b[:n])
	return n, nil
}

// Write implements broker.Conn. It ignores the time limit. To simulate a write that exceeds the limit, a test calls Abort.
func (p *Conn) Write(b []byte, _ time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 {
		for !p.aborted && p.fits(len(b)) == 0 {
			p.changed.Wait()
		}
		if p.aborted {
			return errAborted
		}
		n := p.fits(len(b))
		p.add(b[:n])
		b = b[n:]
	}
	return nil
}

// Finish implements broker.Conn.
func (p *Conn) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// Abort implements broker.Conn.
func (p *Conn) Abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aborted = true
	p.changed.Broadcast()
}

// Over reports whether Finish or Abort was called.
func (p *Conn) Over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.aborted || p.ended
}

// Frame is one websocket frame that the broker has written.
type Frame struct {
	Kind byte // opcode of the frame (RFC 6455, 5.2)
	Body string
}

// Frames returns the complete frames that were written, and the number of bytes of an incomplete frame after them.
func (p *Conn) Frames() (frames []Frame, rest int) {
	p.mu.Lock()
	b := p.received
	p.mu.Unlock()
	for {
		in := bytes.NewReader(b)
		f, err := ws.ReadFrame(in)
		if err != nil { // the frame is incomplete
			return frames, len(b)
		}
		frames = append(frames, Frame{byte(f.Header.OpCode), string(f.Payload)})
		b = b[len(b)-in.Len():]
	}
}

// Texts returns the payloads of the complete text frames that were written, in order.
func (p *Conn) Texts() []string {
	frames, _ := p.Frames()
	var texts []string
	for _, f := range frames {
		if f.Kind == 1 {
			texts = append(texts, f.Body)
		}
	}
	return texts
}
