package httpapi

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/signalcast/signalcast/services/api/internal/broker"
)

const (
	// maxWrite is the maximum size of a single write. The time limit of Write starts again after each of them.
	maxWrite = 16 << 10
	// closeTime is the time within which the client must answer a close frame.
	closeTime = 5 * time.Second
)

// expired is a deadline in the past. If it is set, a running read or write ends.
var expired = time.Unix(1, 0)

// wsConn is the connection of a websocket. Only the broker.Reader writes to it, and only one goroutine at a time reads from
// it.
type wsConn struct {
	net.Conn
	nonblocking
	finished
	reader *broker.Reader
}

// newConn returns the wsConn of conn. sendBuffer is the size of the kernel's send buffer in bytes. With a small buffer, a
// client that does not read is detected before it occupies megabytes of kernel memory.
func newConn(conn net.Conn, sendBuffer int) *wsConn {
	p := &wsConn{Conn: unwrap(conn), finished: make(finished)}
	if c, ok := p.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = c.SetWriteBuffer(sendBuffer) // if it fails, the kernel's larger default remains
	}
	p.init(p.Conn)
	return p
}

// finished is a channel that is closed after the last write to a connection.
type finished chan struct{}

// wait returns when the last frame was written, the connection was aborted, or ctx has ended.
func (e finished) wait(ctx context.Context) {
	select {
	case <-e:
	case <-ctx.Done():
	}
}

// unwrap returns the innermost connection of conn. To find it, unwrap calls the method NetConn of each wrapper, such as the
// wrappers of TLS and of the HTTP server.
func unwrap(conn net.Conn) net.Conn {
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = outer.NetConn()
	}
}

// Write implements broker.Conn. The time limit applies to each part of maxWrite bytes.
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
	time.AfterFunc(closeTime, func() { _ = p.SetReadDeadline(expired) }) // fails only if the connection is closed
	close(p.finished)
}

// Abort implements broker.Conn.
func (p *wsConn) Abort() {
	_ = p.Conn.Close() // a second Close is harmless
	close(p.finished)
}

// closeGracefully closes the connection after the last frame was written. It first reads the remaining bytes of the client: a
// connection that is closed with unread bytes is reset, and the client would lose the close frame.
func (p *wsConn) closeGracefully() {
	p.drain()
	_ = p.Conn.Close() // a second Close is harmless
}

// maxDrain is the maximum number of bytes that drain reads from a client that does not stop sending.
const maxDrain = 1 << 20

// drain closes the write side of the connection. It then reads until the client closes the connection, maxDrain bytes were
// read, or closeTime has passed.
func (p *wsConn) drain() {
	half, ok := p.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return // already closed
	}
	timeout := time.AfterFunc(closeTime, func() { _ = p.SetReadDeadline(expired) })
	defer timeout.Stop()
	_, _ = io.CopyN(io.Discard, p.Conn, maxDrain) // success and error both end the connection
}

// abandon implements transport.
func (p *wsConn) abandon() { _ = p.Conn.Close() }
