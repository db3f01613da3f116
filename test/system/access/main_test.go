package access

import (
	"net/http"
	"strconv"
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

// patient sends a request from the next address of a crowd, again while a service is busy and after the time that a refusal
// for the limit of a credential names.
func patient(t testing.TB, c *stack.Crowd, method, address string, sets ...stack.Set) (a stack.Answer) {
	t.Helper()
	for range 4 {
		a = c.Retry(t, method, address, both(sets...))
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if a.Status != http.StatusTooManyRequests || err != nil || seconds > 60 {
			break
		}
		stack.Wait(t, time.Duration(seconds)*time.Second)
	}
	return a
}
