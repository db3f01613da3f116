package protocol_test

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestConstantTime checks that the time of a failed comparison does not depend on the position of the first wrong byte
// of the hash.
func TestConstantTime(t *testing.T) {
	const text = "one-secret-of-this-test-0123456789"
	var s protocol.Secret
	accepted := false
	testkit.ConstantTime(t, "secret", func(class int) {
		s = protocol.NewSecret(text)
		s.Spoil(class * 31)
	}, func() { accepted = s.Match(text) || accepted })
	if accepted {
		t.Error("a wrong secret was accepted")
	}
}
