package process

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// machineFactor is by how much a bound on time may be exceeded: these tests run on small, loaded machines.
const machineFactor = 5

// exitWithin is the guaranteed time between SIGTERM and the end of a process.
const exitWithin = 10 * time.Second

// system returns the system of this package, for one test at a time.
func system(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.ScoredAtOnce(), stack.Hubs(2))
}
