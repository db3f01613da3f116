package httpx

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// lastLook is how much longer a client can be waited for whose time is over.
const lastLook = 50 * time.Millisecond

// lateListener gives connections that do not blame their client for a pause of this
// process.
type lateListener struct{ net.Listener }

func (l lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lateConn{Conn: c}, nil
}

// lateConn is a connection whose reads look once more when their time is over. A
// process that got no time to run for seconds wakes up to both at once, a limit that
// has passed and a request that has long been there; a read only sees the limit, and
// the request would be dropped without an answer. Once for each limit, so a slow
// client gains nothing.
type lateConn struct {
	net.Conn
	due atomic.Bool // a limit in the future was set, and it has not passed yet
}

// SetReadDeadline implements net.Conn. A time that has passed already is how a read is
// called off, which has to work at once.
func (c *lateConn) SetReadDeadline(t time.Time) error {
	c.due.Store(!t.IsZero() && time.Until(t) > 0)
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *lateConn) SetDeadline(t time.Time) error {
	c.due.Store(!t.IsZero() && time.Until(t) > 0)
	return c.Conn.SetDeadline(t)
}

// Read implements net.Conn.
func (c *lateConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil || n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !c.due.CompareAndSwap(true, false) {
		return n, err
	}
	if failed := c.Conn.SetReadDeadline(time.Now().Add(lastLook)); failed != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// CloseWrite lets the server end an answer before it has read all of a request.
func (c *lateConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// NetConn is the connection underneath, as tls.Conn gives it.
func (c *lateConn) NetConn() net.Conn { return c.Conn }

// unwrapped calls with what Join has put around a connection, which lies under ours.
func unwrapped(inner func(context.Context, net.Conn) context.Context) func(context.Context, net.Conn) context.Context {
	return func(ctx context.Context, c net.Conn) context.Context {
		if late, ok := c.(*lateConn); ok {
			c = late.Conn
		}
		return inner(ctx, c)
	}
}
