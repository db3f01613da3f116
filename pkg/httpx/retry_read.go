package httpx

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// retryTime is the timeout of the second read after a read deadline has passed.
const retryTime = 50 * time.Millisecond

// retryListener accepts connections that read once more after their read deadline has passed (see retryConn).
type retryListener struct{ net.Listener }

func (l retryListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &retryConn{Conn: c}, nil
}

// retryConn is a connection that repeats a read once when its deadline has passed. If the process was suspended for seconds, the
// deadline may have passed although the request has arrived in time. Without the second read, the request would be dropped
// without a response. The read is repeated once per deadline, so a slow client gains at most retryTime.
type retryConn struct {
	net.Conn
	due atomic.Bool // a deadline in the future was set, and no read has been repeated since
}

// SetReadDeadline implements net.Conn. A deadline in the past cancels a running read, which must not be repeated.
func (c *retryConn) SetReadDeadline(t time.Time) error {
	c.due.Store(!t.IsZero() && time.Until(t) > 0)
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *retryConn) SetDeadline(t time.Time) error {
	c.due.Store(!t.IsZero() && time.Until(t) > 0)
	return c.Conn.SetDeadline(t)
}

// Read implements net.Conn.
func (c *retryConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil || n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !c.due.CompareAndSwap(true, false) {
		return n, err
	}
	if failed := c.Conn.SetReadDeadline(time.Now().Add(retryTime)); failed != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// CloseWrite closes the writing side of the connection. The server uses it to end a response before it has read the
// whole request.
func (c *retryConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// NetConn returns the wrapped connection, like tls.Conn.NetConn.
func (c *retryConn) NetConn() net.Conn { return c.Conn }

// unwrapped adapts inner, a function for http.Server.ConnContext, to connections of type *retryConn. It passes the wrapped
// connection to inner, because inner expects the connection type of its own listener.
func unwrapped(inner func(context.Context, net.Conn) context.Context) func(context.Context, net.Conn) context.Context {
	return func(ctx context.Context, c net.Conn) context.Context {
		if late, ok := c.(*retryConn); ok {
			c = late.Conn
		}
		return inner(ctx, c)
	}
}
