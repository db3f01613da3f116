package caller

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestConstantTime checks that the time to refuse a wrong signature does not depend on which of its bytes is wrong.
func TestConstantTime(t *testing.T) {
	_, _, sessions := newWorld(t)
	const uid = "dTE.1789732800.3"
	want := sign([]byte(secretA), uid)
	mac, accepted := make([]byte, len(want)), false
	testkit.ConstantTime(t, "session", func(class int) {
		copy(mac, want)
		mac[class*(len(mac)-1)]++
	}, func() { accepted = sessions.signed(uid, mac) || accepted })
	if accepted {
		t.Error("a wrong signature was accepted")
	}
}
