package stack

import (
	"net"
	"sync/atomic"
	"testing"
)

// Tripwire is a TCP server to which no program may connect. It counts the connections that programs open nevertheless.
type Tripwire struct {
	Addr        string
	Connections atomic.Int64
}

// NewTripwire starts a Tripwire on a free loopback port. It stops when the test ends.
func NewTripwire(t testing.TB) *Tripwire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	w := &Tripwire{Addr: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the listener is closed
			}
			w.Connections.Add(1)
			_ = conn.Close()
		}
	}()
	return w
}

// URL returns an http URL with the address of the tripwire.
func (w *Tripwire) URL() string { return "http://" + w.Addr + "/tripwire" }
