package stack

import (
	"sync/atomic"
	"testing"
)

// Crowd is a group of clients with different IP addresses. It sends its requests from them in rotation, so that rate limits per
// IP address do not affect tests with thousands of requests.
type Crowd struct {
	clients []*Client
	next    atomic.Uint64
}

// NewCrowd returns a Crowd of n clients.
func NewCrowd(n int) *Crowd {
	c := &Crowd{}
	for range n {
		c.clients = append(c.clients, NewClient())
	}
	return c
}

// Do sends a request once from the next address and returns the response. It fails the test if there is no complete response.
func (c *Crowd) Do(t testing.TB, method, url string, sets ...Set) Answer {
	t.Helper()
	return c.clients[c.next.Add(1)%uint64(len(c.clients))].Do(t, method, url, sets...)
}

// Try sends a request once from the next address and returns an error if there is no complete response.
func (c *Crowd) Try(t testing.TB, method, url string, sets ...Set) (Answer, error) {
	t.Helper()
	return c.clients[c.next.Add(1)%uint64(len(c.clients))].Try(t, method, url, sets...)
}

// Retry sends a request and repeats it up to five times while the response is 503 or degraded. Services shed requests on a loaded
// machine.
func (c *Crowd) Retry(t testing.TB, method, url string, sets ...Set) Answer {
	t.Helper()
	return retry(t, func() Answer { return c.Do(t, method, url, sets...) })
}

// Base returns the base URL of a service: hub, api or clock. For hub, i selects one of the hubs, modulo the number of hubs.
func (s *Stack) Base(service string, i int) string {
	switch service {
	case "api":
		return s.API
	case "clock":
		return s.Clock
	}
	return s.HubAt(i)
}
