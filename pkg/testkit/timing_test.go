package testkit_test

import (
	"bytes"
	"crypto/subtle"
	"math"
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestConstantTime checks that Timing detects a comparison that stops at the first difference, and does not report a
// comparison in constant time.
func TestConstantTime(t *testing.T) {
	want := bytes.Repeat([]byte{7}, 32)
	given := make([]byte, 32)
	same := false
	set := func(class int) {
		copy(given, want)
		given[31*class]++
	}
	testkit.ConstantTime(t, "subtle", set, func() { same = same || subtle.ConstantTimeCompare(given, want) == 1 })
	plain := testkit.Timing(20_000, set, func() { same = same || string(given) == string(want) })
	t.Logf("timing plain t=%.2f samples=20000", plain)
	if math.Abs(plain) < 10 && !testkit.UnderRace || same {
		t.Errorf("a comparison that stops early was not detected: t is %.1f", plain)
	}
}
