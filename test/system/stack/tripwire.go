package stack

import (
	"net"
	"sync/atomic"
	"testing"
)

// Tripwire is a TCP address that no program has a reason to connect to. It counts connections.
type Tripwire struct {
	Addr        string
	Connections atomic.Int64
}

// NewTripwire listens until the test ends.
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
				return // closed
			}
			w.Connections.Add(1)
			_ = conn.Close()
		}
	}()
	return w
}

// URL returns an http URL of the address.
func (w *Tripwire) URL() string { return "http://" + w.Addr + "/tripwire" }
