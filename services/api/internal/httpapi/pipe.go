package httpapi

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/broker"
)

const (
	// writePiece is what a connection has to take within its time.
	writePiece = 16 << 10
	// closeTime is how long the other side has to answer a close frame.
	closeTime = 5 * time.Second
)

// past is a deadline that is over, whatever the time.
var past = time.Unix(1, 0)

// pipe is the connection of a socket. The hub writes to it through its reader; the
// goroutine of the socket reads.
type pipe struct {
	net.Conn
	nonblocking
	ending
	reader *broker.Reader
}

// newPipe returns the pipe of a connection. sendBuffer is the size of the kernel's buffer in bytes: a client that does not read
// must not fill megabytes of it before the service notices.
func newPipe(conn net.Conn, sendBuffer int) *pipe {
	p := &pipe{Conn: bare(conn), ending: make(ending)}
	if c, ok := p.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = c.SetWriteBuffer(sendBuffer) // without it the larger buffer of the kernel remains
	}
	p.init(p.Conn)
	return p
}

// ending is closed when nothing will be written any more.
type ending chan struct{}

// wait is until the last frame was written, or the connection cut.
func (e ending) wait(ctx context.Context) {
	select {
	case <-e:
	case <-ctx.Done():
	}
}

// bare returns the connection that the server has wrapped.
func bare(conn net.Conn) net.Conn {
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = outer.NetConn()
	}
}

// Put implements broker.Pipe.
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

// Ended implements broker.Pipe: the other side has some time to answer.
func (p *pipe) Ended() {
	time.AfterFunc(closeTime, func() { _ = p.SetReadDeadline(past) }) // fails when the connection is gone
	close(p.ending)
}

// Cut implements broker.Pipe.
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
