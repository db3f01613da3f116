package httpcache

import (
	"context"
	"net"
	"net/http"
)

// The HTTP server writes a response through a buffer of 4 KiB. A larger page needs two system calls: one for the header
// with the first part of the body, one for the rest. The second call is a fifth of the cost of a cached page. With
// Join, Page.WriteTo makes the connection delay the first part and send both parts in one call.

// Join wraps a listener so that a response with a large body is written in one system call. The server must use JoinContext
// as its ConnContext. Without Join and JoinContext, responses are correct but cost more system calls.
func Join(ln net.Listener) net.Listener { return joiner{ln} }

type joiner struct{ net.Listener }

func (j joiner) Accept() (net.Conn, error) {
	c, err := j.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return &joined{TCPConn: tcp}, nil
	}
	return c, nil
}

type joinKey struct{}

// JoinContext is the http.Server.ConnContext for connections of Join. It stores the connection in the context.
func JoinContext(ctx context.Context, c net.Conn) context.Context {
	if j, ok := c.(*joined); ok {
		return context.WithValue(ctx, joinKey{}, j)
	}
	return ctx
}

// joined is a connection that can buffer one write. Only the goroutine that answers a request writes, so it needs no
// lock.
type joined struct {
	*net.TCPConn
	hold bool   // the next write of at most maxHeld bytes is buffered
	head []byte // buffered bytes
}

// maxHeld is the size of the server's write buffer in bytes. A larger write is not the first part of a response.
const maxHeld = 4096

// NetConn returns the wrapped connection, like tls.Conn.NetConn.
func (j *joined) NetConn() net.Conn { return j.TCPConn }

// Write implements net.Conn. If the field hold is set, Write buffers a first write of at most maxHeld bytes and sends it together
// with the next write. A larger first write is sent at once.
func (j *joined) Write(b []byte) (int, error) {
	if !j.hold {
		return j.TCPConn.Write(b)
	}
	if len(j.head) == 0 && len(b) <= maxHeld {
		j.head = append(j.head, b...)
		return len(b), nil
	}
	j.hold = false
	if len(j.head) == 0 {
		return j.TCPConn.Write(b)
	}
	parts := net.Buffers{j.head, b}
	n, err := parts.WriteTo(j.TCPConn)
	n -= int64(len(j.head))
	j.head = j.head[:0]
	return int(max(n, 0)), err
}

// release ends buffering and sends the buffered bytes.
func (j *joined) release() error {
	j.hold = false
	if len(j.head) == 0 {
		return nil
	}
	_, err := j.TCPConn.Write(j.head)
	j.head = j.head[:0]
	return err
}

// writeJoined writes body. It uses one system call for the response header and the body if the connection comes from Join and
// body is larger than maxHeld.
func writeJoined(w http.ResponseWriter, r *http.Request, body []byte) {
	// An error means that the client has closed the connection. It needs no handling.
	j, ok := r.Context().Value(joinKey{}).(*joined)
	if !ok || len(body) <= maxHeld {
		_, _ = w.Write(body)
		return
	}
	j.hold = true
	_, _ = w.Write(body)
	_ = j.release()
}
