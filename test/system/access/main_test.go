package access

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// accessStack returns the system of most tests of this package.
func accessStack(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.Hubs(2), stack.ScoredAtOnce())
}

// crowd sends requests from enough addresses that none reaches the limits per address.
type crowd struct {
	clients []*stack.Client
	sent    atomic.Int64
}

func newCrowd() *crowd {
	c := &crowd{}
	for range 200 {
		c.clients = append(c.clients, stack.NewClient())
	}
	return c
}

// count returns the number of requests so far.
func (c *crowd) count() int { return int(c.sent.Load()) }

// next returns the client of the next address.
func (c *crowd) next() *stack.Client { return c.clients[c.sent.Add(1)%int64(len(c.clients))] }

// try sends a request from the next address, once.
func (c *crowd) try(t testing.TB, method, address string, sets ...stack.Set) stack.Answer {
	t.Helper()
	return c.next().Do(t, method, address, both(sets...))
}

// do sends a request, again while the database is busy and after the time that a refusal for the limit of a credential
// names.
func (c *crowd) do(t testing.TB, method, address string, sets ...stack.Set) (a stack.Answer) {
	t.Helper()
	for attempt := range 4 {
		a = c.try(t, method, address, sets...)
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		switch {
		case a.Status == http.StatusServiceUnavailable:
			stack.Wait(t, time.Duration(attempt+1)*200*time.Millisecond)
		case a.Status == http.StatusTooManyRequests && err == nil && seconds <= 60:
			stack.Wait(t, time.Duration(seconds)*time.Second)
		default:
			return a
		}
	}
	return a
}
