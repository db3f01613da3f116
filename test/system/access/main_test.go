package access

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// accessStack returns the system of most tests in this package.
func accessStack(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.Hubs(2), stack.ScoredAtOnce())
}

// sendPatiently sends a request from the next address of a crowd. It retries while a service is overloaded, and after
// the Retry-After time if the rate limit of the credential refuses the request.
func sendPatiently(t testing.TB, c *stack.Crowd, method, address string, sets ...stack.Set) (a stack.Answer) {
	t.Helper()
	for range 4 {
		a = c.Retry(t, method, address, combine(sets...))
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if a.Status != http.StatusTooManyRequests || err != nil || seconds > 60 {
			break
		}
		stack.Wait(t, time.Duration(seconds)*time.Second)
	}
	return a
}
