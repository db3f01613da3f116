// Package input sends malformed, hostile and oversized requests to a running system.
package input

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }

// inputStack returns the system of these tests. Webhooks must not have addresses of the machine, as in production.
func inputStack(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Shared(t, stack.ScoredAtOnce(), stack.Env("WEBHOOK_ALLOW_PRIVATE", "false"))
}
