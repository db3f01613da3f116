package link_test

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestConstantTime: how much of a wrong link secret is right cannot be told from the
// time that its refusal takes. Both classes are wrong, one in the first byte that is
// compared and one in the last.
func TestConstantTime(t *testing.T) {
	differAt, knows := link.Knows("link-0123456789-0123456789-0123456789")
	accepted := false
	testkit.ConstantTime(t, "link", func(class int) { differAt(31 * class) }, func() { accepted = knows() || accepted })
	if accepted {
		t.Error("a wrong secret was accepted")
	}
}
