package httpcache

import (
	"context"
	"net"
	"net/http"
)

// The HTTP server writes an answer through a buffer of 4 KiB: a page that is
// larger leaves in two system calls, its head with the first part of the body
// and the rest. For a hot page the second call is a fifth of all work. Join
// lets WriteTo ask its connection to hold the first part for the moment until
// the second one comes, and to send both at once.

// Join wraps a listener so that pages leave in one piece. Give JoinContext to
// the same server. Without the two, everything works and costs a little more.
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

// JoinContext is the server's ConnContext.
func JoinContext(ctx context.Context, c net.Conn) context.Context {
	if j, ok := c.(*joined); ok {
		return context.WithValue(ctx, joinKey{}, j)
	}
	return ctx
}

// joined is a connection that can hold one write. Only the goroutine that
// answers a request holds and releases, as only it writes.
type joined struct {
	*net.TCPConn
	hold bool
	head []byte // what is held
}

// maxHeld is the server's buffer; a larger write is not its first part.
const maxHeld = 4096

// NetConn is the connection underneath, as tls.Conn gives it.
func (j *joined) NetConn() net.Conn { return j.TCPConn }

// Write implements net.Conn.
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

// release ends holding and sends what is still held.
func (j *joined) release() error {
	j.hold = false
	if len(j.head) == 0 {
		return nil
	}
	_, err := j.TCPConn.Write(j.head)
	j.head = j.head[:0]
	return err
}

// writeJoined writes a body in one piece with its head where that is possible.
func writeJoined(w http.ResponseWriter, r *http.Request, body []byte) {
	// Errors mean a caller that has gone: nobody can be told.
	j, ok := r.Context().Value(joinKey{}).(*joined)
	if !ok || len(body) <= maxHeld {
		_, _ = w.Write(body)
		return
	}
	j.hold = true
	_, _ = w.Write(body)
	_ = j.release()
}
