package grant

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestConstantTime checks that the time to refuse a wrong client secret does not depend on which byte of its hash is wrong. In
// one class of secrets the first compared byte is wrong, in the other the last.
func TestConstantTime(t *testing.T) {
	secret, want := mint(secretPrefix)
	kept, now, accepted := want, time.Unix(1_789_732_800, 0), false
	app := App{Kind: Confidential, Secret: &kept}
	testkit.ConstantTime(t, "client", func(class int) {
		kept = want
		kept[class*(len(kept)-1)]++
	}, func() { accepted = app.hasSecret(secret, now) || accepted })
	if accepted {
		t.Error("a wrong secret was accepted")
	}
}
