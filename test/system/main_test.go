package system

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

func TestMain(m *testing.M) {
	stack.Parallel(4) // most tests wait: for quotes to age and for markets to end
	stack.Main(m)
}
