// Package feed tests the live feed with many connections, slow readers, and restarts of all its parts.
package feed

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// start returns the only system of these tests. Only one test uses it at a time, because all tests measure or stop
// processes.
func start(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.Hubs(2))
}
