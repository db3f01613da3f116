package process

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// machineFactor is the factor by which a time limit may be exceeded, because these tests run on small, loaded machines.
const machineFactor = 5

// exitWithin is the guaranteed maximum time between SIGTERM and the end of a process.
const exitWithin = 10 * time.Second

// system returns the system of this package. Only one test uses it at a time.
func system(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.ScoredAtOnce(), stack.Hubs(2))
}
