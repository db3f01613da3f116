// Package feed tests the live feed with many connections, slow readers and restarts of everything that it consists of.
package feed

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// start returns the one system of these tests: all of them measure or stop processes.
func start(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.Hubs(2))
}
