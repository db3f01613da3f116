package httpapi

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/broker"
)

const (
	// maxWrite is the size of a single write. The connection must accept it within the time limit.
	maxWrite = 16 << 10
	// closeTime is the time that the client has to answer a close frame.
	closeTime = 5 * time.Second
)

// expired is a deadline in the past. It ends a running read or write.
var expired = time.Unix(1, 0)

// wsConn is the connection of a websocket. Its broker.Reader writes to it; the goroutine of the socket reads.
type wsConn struct {
	net.Conn
	nonblocking
	finished
	reader *broker.Reader
}

// newConn returns the wsConn of a connection. sendBuffer is the size of the kernel's send buffer in bytes. It is small, so
// that a client that does not read is noticed before it occupies megabytes of kernel memory.
func newConn(conn net.Conn, sendBuffer int) *wsConn {
	p := &wsConn{Conn: unwrap(conn), finished: make(finished)}
	if c, ok := p.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = c.SetWriteBuffer(sendBuffer) // if it fails, the kernel's larger default remains
	}
	p.init(p.Conn)
	return p
}

// finished is closed after the last write.
type finished chan struct{}

// wait waits until the last frame was written or the connection was aborted.
func (e finished) wait(ctx context.Context) {
	select {
	case <-e:
	case <-ctx.Done():
	}
}

// unwrap returns the connection inside the wrappers of the HTTP server.
func unwrap(conn net.Conn) net.Conn {
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = outer.NetConn()
	}
}

// Write implements broker.Conn.
func (p *wsConn) Write(b []byte, within time.Duration) error {
	timeout := time.AfterFunc(within, func() { _ = p.SetWriteDeadline(expired) })
	defer timeout.Stop()
	for len(b) > 0 {
		n, err := p.Conn.Write(b[:min(len(b), maxWrite)])
		if err != nil {
			return err
		}
		timeout.Reset(within)
		b = b[n:]
	}
	return nil
}

// Finish implements broker.Conn. The client has closeTime to answer the close frame.
func (p *wsConn) Finish() {
	time.AfterFunc(closeTime, func() { _ = p.SetReadDeadline(expired) }) // fails if the connection is closed
	close(p.finished)
}

// Abort implements broker.Conn.
func (p *wsConn) Abort() {
	_ = p.Conn.Close() // a second Close is harmless
	close(p.finished)
}

// closeGracefully closes the connection after its last frame. It first reads what the client still sends: closing a
// connection with unread bytes resets it, and the client would not receive the close frame.
func (p *wsConn) closeGracefully() {
	p.drain()
	_ = p.Conn.Close() // a second Close is harmless
}

// maxDrain is the number of bytes that are read of a client that does not stop sending.
const maxDrain = 1 << 20

// drain closes the write side of the connection, and reads until the client closes, maxDrain bytes are read or closeTime has
// passed.
func (p *wsConn) drain() {
	half, ok := p.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return // already closed
	}
	timeout := time.AfterFunc(closeTime, func() { _ = p.SetReadDeadline(expired) })
	defer timeout.Stop()
	_, _ = io.CopyN(io.Discard, p.Conn, maxDrain) // any result is the end of the connection
}

// abandon implements transport.
func (p *wsConn) abandon() { _ = p.Conn.Close() }
