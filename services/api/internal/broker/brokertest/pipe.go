package brokertest

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// Pipe is a connection in memory. Its other side takes everything, or as much as
// it is told to.
type Pipe struct {
	mu    sync.Mutex
	moved *sync.Cond
	tight bool
	room  int // bytes that it takes; when tight
	got   []byte
	cut   bool
	ended bool
}

var errCut = errors.New("the connection is cut")

// New makes a connection that takes everything.
func New() *Pipe {
	p := &Pipe{}
	p.moved = sync.NewCond(&p.mu)
	return p
}

// Take makes the other side take n more bytes, and nothing beyond.
func (p *Pipe) Take(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tight {
		p.tight, p.room = true, 0
	}
	p.room += n
	p.moved.Broadcast()
}

// TakeAll makes the other side take everything.
func (p *Pipe) TakeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tight = false
	p.moved.Broadcast()
}

func (p *Pipe) fits(n int) int {
	if p.tight {
		return min(n, p.room)
	}
	return n
}

func (p *Pipe) add(b []byte) {
	p.got = append(p.got, b...)
	if p.tight {
		p.room -= len(b)
	}
}

// Try implements live.Pipe.
func (p *Pipe) Try(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return 0, errCut
	}
	n := p.fits(len(b))
	p.add(b[:n])
	return n, nil
}

// Put implements live.Pipe. The time is not counted: a test that wants it to be
// over cuts the connection.
func (p *Pipe) Put(b []byte, _ time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 {
		for !p.cut && p.fits(len(b)) == 0 {
			p.moved.Wait()
		}
		if p.cut {
			return errCut
		}
		n := p.fits(len(b))
		p.add(b[:n])
		b = b[n:]
	}
	return nil
}

// Ended implements live.Pipe.
func (p *Pipe) Ended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// Cut implements live.Pipe.
func (p *Pipe) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.moved.Broadcast()
}

// Over tells whether nothing will be written any more.
func (p *Pipe) Over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut || p.ended
}

// Frame is one websocket frame.
type Frame struct {
	Kind byte // its opcode
	Body string
}

// Frames are those that are whole; the rest is what is left of the bytes.
func (p *Pipe) Frames() (frames []Frame, rest int) {
	p.mu.Lock()
	b := p.got
	p.mu.Unlock()
	for {
		in := bytes.NewReader(b)
		f, err := ws.ReadFrame(in)
		if err != nil { // the frame is not whole
			return frames, len(b)
		}
		frames = append(frames, Frame{byte(f.Header.OpCode), string(f.Payload)})
		b = b[len(b)-in.Len():]
	}
}

// Texts are the text frames.
func (p *Pipe) Texts() []string {
	frames, _ := p.Frames()
	var texts []string
	for _, f := range frames {
		if f.Kind == 1 {
			texts = append(texts, f.Body)
		}
	}
	return texts
}
