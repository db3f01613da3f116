package edge

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/live"
)

const (
	// bufferSize is that of the library's buffers: it reads what clients send,
	// which is little, and writes control frames.
	bufferSize = 256
	// writePiece is what a connection has to take within its time.
	writePiece = 16 << 10
	// closeTime is how long the other side has to answer a close frame.
	closeTime = 5 * time.Second
)

// past is a deadline that is over, whatever the time.
var past = time.Unix(1, 0)

// tap hands the library a connection with small buffers, of which the hub writes
// past it: a reader that never reads must not fill megabytes of the kernel before
// it shows, and ten thousand idle ones must not hold pages.
type tap struct {
	http.ResponseWriter
	pipe       *pipe
	hub        *live.Hub
	sendBuffer int
}

// Hijack implements http.Hijacker.
func (t *tap) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if c, ok := bare(conn).(interface{ SetWriteBuffer(bytes int) error }); ok {
		// Without it the kernel's own size holds, which is only larger.
		_ = c.SetWriteBuffer(t.sendBuffer)
	}
	// What came behind the head already must stand in the new buffer: the library
	// looks for it there and nowhere else.
	var in io.Reader = conn
	n := rw.Reader.Buffered()
	if n > 0 {
		early, err := rw.Reader.Peek(n)
		if err != nil {
			_ = conn.Close()
			return nil, nil, err
		}
		t.pipe.tempo.count(early)
		in = io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn)
	}
	buffer := bufio.NewReaderSize(in, max(n, bufferSize))
	if _, err := buffer.Peek(n); err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	t.pipe.open(conn)
	t.pipe.reader = t.hub.NewReader(t.pipe)
	return t.pipe, bufio.NewReadWriter(buffer, bufio.NewWriterSize(t.pipe, bufferSize)), nil
}

// pipe is the connection of a socket. The hub writes to it through its reader;
// what the library writes are control frames, each in one Write, and they take
// their turn with the hub's.
type pipe struct {
	net.Conn
	nonblocking
	ending
	reader  *live.Reader
	tempo   *tempo // of the client's frames; the reading goroutine's own
	closing sync.Once
}

func newPipe(t *tempo) *pipe { return &pipe{ending: make(ending), tempo: t} }

// ending is closed when nothing will be written any more.
type ending chan struct{}

// wait is until the last frame was written, or the connection cut.
func (e ending) wait(ctx context.Context) {
	select {
	case <-e:
	case <-ctx.Done():
	}
}

func (p *pipe) open(conn net.Conn) {
	p.Conn = bare(conn)
	p.init(p.Conn)
}

// bare is the connection beneath what the server has put around it.
func bare(conn net.Conn) net.Conn {
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = outer.NetConn()
	}
}

// Read implements net.Conn for the library. What came together with the frame that is
// too much is still served.
func (p *pipe) Read(b []byte) (int, error) {
	if p.tempo.over {
		p.reader.Close(live.RateLimited)
		return 0, errTempo
	}
	n, err := p.Conn.Read(b)
	p.tempo.count(b[:n])
	return n, err
}

// Write implements net.Conn for the library.
func (p *pipe) Write(b []byte) (int, error) {
	p.reader.Control(bytes.Clone(b))
	return len(b), nil
}

// Put implements live.Pipe.
func (p *pipe) Put(b []byte, within time.Duration) error {
	stuck := time.AfterFunc(within, func() { _ = p.SetWriteDeadline(past) })
	defer stuck.Stop()
	for len(b) > 0 {
		n, err := p.Conn.Write(b[:min(len(b), writePiece)])
		if err != nil {
			return err
		}
		stuck.Reset(within)
		b = b[n:]
	}
	return nil
}

// Ended implements live.Pipe: the other side has some time to answer.
func (p *pipe) Ended() {
	time.AfterFunc(closeTime, func() { _ = p.SetReadDeadline(past) }) // fails when the connection is gone
	close(p.ending)
}

// Cut implements live.Pipe.
func (p *pipe) Cut() {
	_ = p.Conn.Close() // closed twice is no fault
	close(p.ending)
}

// Close implements net.Conn for the library, which ends the connection when it has
// handed over a close frame. That one is written first; and what the other side still
// sends is taken for a while, since a connection that is closed on unread bytes is
// reset, and the other side would never read why.
func (p *pipe) Close() error {
	p.closing.Do(func() {
		if p.reader.Closed() {
			ctx, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			p.wait(ctx)
			p.drain()
		}
	})
	return p.Conn.Close()
}

// lastBytes is how much is still taken of a side that does not stop.
const lastBytes = 1 << 20

func (p *pipe) drain() {
	half, ok := p.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return // it is closed already
	}
	over := time.AfterFunc(closeTime, func() { _ = p.SetReadDeadline(past) })
	defer over.Stop()
	_, _ = io.CopyN(io.Discard, p.Conn, lastBytes) // however it ends, it is the end
}

// abandon implements transport.
func (p *pipe) abandon() { _ = p.Conn.Close() }
