// Package input sends malformed, hostile and oversized requests to a running system.
package input

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) { stack.Main(m) }
