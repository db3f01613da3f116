package outage

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// machineFactor is the factor by which a time limit may be exceeded, because these tests run on small, loaded machines.
const machineFactor = 5

// recoverWithin is the longest time that a test waits until a system is normal again.
const recoverWithin = 12 * time.Second

// system returns the system whose processes and dependencies the tests of this package stop. Only one test uses it at a
// time.
func system(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.ScoredAtOnce(), stack.Hubs(2), stack.Env("SECURITY_CONTACT", "mailto:security@hub.example"),
		stack.Env("DB_READ_TIMEOUT", "300ms")) // the DB_READ_TIMEOUT of production
}
