package stack

import (
	"sync/atomic"
	"testing"
)

// Crowd sends requests from many addresses, so that no limit per address applies to a test that sends thousands.
type Crowd struct {
	clients []*Client
	next    atomic.Uint64
}

// NewCrowd returns a crowd of n addresses.
func NewCrowd(n int) *Crowd {
	c := &Crowd{}
	for range n {
		c.clients = append(c.clients, NewClient())
	}
	return c
}

// Do sends a request once, from the next address.
func (c *Crowd) Do(t testing.TB, method, url string, sets ...Set) Answer {
	t.Helper()
	return c.clients[c.next.Add(1)%uint64(len(c.clients))].Do(t, method, url, sets...)
}

// Try sends a request once, from the next address, and returns an error if no complete answer comes.
func (c *Crowd) Try(t testing.TB, method, url string, sets ...Set) (Answer, error) {
	t.Helper()
	return c.clients[c.next.Add(1)%uint64(len(c.clients))].Try(t, method, url, sets...)
}

// Retry is Do, and Do again while the answer is 503 or degraded, up to five times: a loaded machine sheds requests.
func (c *Crowd) Retry(t testing.TB, method, url string, sets ...Set) Answer {
	t.Helper()
	return retry(t, func() Answer { return c.Do(t, method, url, sets...) })
}

// Base returns the address of a service: hub, api or clock. i selects one of the hubs and may exceed their number.
func (s *Stack) Base(service string, i int) string {
	switch service {
	case "api":
		return s.API
	case "clock":
		return s.Clock
	}
	return s.HubAt(i)
}
