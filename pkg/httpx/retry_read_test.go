package httpx_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/httpx"
)

// paused is a listener whose connections delay the first read until its deadline has passed, like in a suspended
// process.
type paused struct {
	net.Listener
}

func (p paused) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &pausedConn{Conn: c}, nil
}

type pausedConn struct {
	net.Conn
	first sync.Once
	limit time.Time
}

func (c *pausedConn) SetReadDeadline(t time.Time) error {
	c.limit = t
	return c.Conn.SetReadDeadline(t)
}

func (c *pausedConn) Read(b []byte) (int, error) {
	c.first.Do(func() { <-time.After(time.Until(c.limit) + 10*time.Millisecond) })
	return c.Conn.Read(b)
}

// TestRequestThatArrivedInTimeIsAnswered checks that a request that arrived before the read deadline is answered even
// if the process reads it later. An incomplete request must not be answered.
func TestRequestThatArrivedInTimeIsAnswered(t *testing.T) {
	t.Parallel()
	s := httpx.NewServer("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) }),
		httpx.Limits{ReadHeader: 100 * time.Millisecond}, quiet)
	s.Join(func(ln net.Listener) net.Listener { return paused{ln} }, func(ctx context.Context, c net.Conn) context.Context {
		if _, ok := c.(*pausedConn); !ok {
			t.Errorf("the context was requested for a %T, want *pausedConn", c)
		}
		return ctx
	})
	run(t, s)
	if got, _ := dial(t, s.Addr(), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(got, "here") {
		t.Errorf("response %q, want the body of the handler", got)
	}
	if got, took := dial(t, s.Addr(), "GET / HTTP/1.1\r\nHost: x\r\n"); strings.Contains(got, "here") || took > 5*time.Second {
		t.Errorf("an incomplete request got the response %q after %v", got, took)
	}
}
