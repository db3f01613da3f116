// Package input sends malformed, hostile and oversized requests to a running system.
package input

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// inputStack returns the system of these tests. As in production, it refuses webhooks with addresses of the local
// machine.
func inputStack(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.ScoredAtOnce(), stack.Env("WEBHOOK_ALLOW_PRIVATE", "false"))
}
