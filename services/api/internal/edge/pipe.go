package edge

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/live"
)

const (
	// writePiece is what a connection has to take within its time.
	writePiece = 16 << 10
	// closeTime is how long the other side has to answer a close frame.
	closeTime = 5 * time.Second
)

// past is a deadline that is over, whatever the time.
var past = time.Unix(1, 0)

// tap lets the library shake hands, and then keeps the connection from it: the hub
// writes to it, and what is read costs an idle one no buffers and hardly a stack.
type tap struct {
	http.ResponseWriter
	pipe       *pipe
	hub        *live.Hub
	sendBuffer int
	early      []byte // what the client has sent behind its handshake already
}

// Hijack implements http.Hijacker.
func (t *tap) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if c, ok := bare(conn).(interface{ SetWriteBuffer(bytes int) error }); ok {
		// A reader that never reads must not fill megabytes of the kernel before it
		// shows. Without it the kernel's own size holds, which is only larger.
		_ = c.SetWriteBuffer(t.sendBuffer)
	}
	if n := rw.Reader.Buffered(); n > 0 {
		early, err := rw.Reader.Peek(n)
		if err != nil {
			_ = conn.Close()
			return nil, nil, err
		}
		t.early = bytes.Clone(early)
	}
	t.pipe.open(conn)
	t.pipe.reader = t.hub.NewReader(t.pipe)
	return shaken{}, bufio.NewReadWriter(bufio.NewReader(shaken{}), bufio.NewWriter(shaken{})), nil
}

// shaken is what the library holds after the handshake: it has had its part.
type shaken struct{ net.Conn }

func (shaken) Read([]byte) (int, error)    { return 0, io.EOF }
func (shaken) Write(b []byte) (int, error) { return len(b), nil }
func (shaken) Close() error                { return nil }

// pipe is the connection of a socket. The hub writes to it through its reader; the
// goroutine of the socket reads.
type pipe struct {
	net.Conn
	nonblocking
	ending
	reader *live.Reader
}

func newPipe() *pipe { return &pipe{ending: make(ending)} }

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

// shut ends the connection behind its last frame. What the other side still sends is
// taken for a while, since a connection that is closed on unread bytes is reset, and the
// other side would never read why.
func (p *pipe) shut() {
	p.drain()
	_ = p.Conn.Close() // closed twice is no fault
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
