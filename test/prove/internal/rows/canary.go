package rows

import (
	"net"
	"sync/atomic"
)

// canary is an address that nobody has a reason to connect to; it counts who does.
type canary struct {
	addr   string
	listen net.Listener
	hits   atomic.Int64
}

func newCanary() (*canary, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &canary{addr: l.Addr().String(), listen: l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			c.hits.Add(1)
			_ = conn.Close()
		}
	}()
	return c, nil
}

func (c *canary) url(scheme string) string { return scheme + "://" + c.addr + "/canary" }

func (c *canary) close() { _ = c.listen.Close() }

// hears tells whether the canary counts a connection, and forgets that one.
func (c *canary) hears() error {
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		return err
	}
	one := make([]byte, 1)
	_, _ = conn.Read(one) // until it was accepted and closed
	c.hits.Add(-1)
	return conn.Close()
}
