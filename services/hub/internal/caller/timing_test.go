package caller

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestConstantTime: how much of a wrong secret or signature is right cannot be told
// from the time that its refusal takes. Both classes are wrong, one in the first
// byte that is compared and one in the last.
func TestConstantTime(t *testing.T) {
	for name, text := range map[string]string{"admin": adminA, "cron": cronA} {
		s, accepted := NewSecret(text), false
		want := s.sum
		testkit.ConstantTime(t, name, func(class int) {
			s.sum = want
			s.sum[class*(len(s.sum)-1)]++
		}, func() { accepted = s.Match(text) || accepted })
		if accepted {
			t.Errorf("%s: a wrong secret was accepted", name)
		}
	}
	_, _, sessions := newWorld()
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
