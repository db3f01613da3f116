package skill

import (
	"math/rand/v2"
	"testing"
)

// TestLimitsOfTheMethod checks two error rates in the section "Limits" of docs/method.md. It simulates 1,000
// operators without skill. Each files 200 calls at 5000 bps that win with a probability of 50%. An error is an
// operator whose confidence interval is above 0. With independent calls and one test after the last call, the method
// allows 2.5% errors. The test checks the rates of two other cases:
//   - 25% if each outcome is shared by ten consecutive calls
//   - 11% if the record is tested after each call from the 20th on, and one positive test counts as an error
func TestLimitsOfTheMethod(t *testing.T) {
	t.Parallel()
	const operators, calls, first = 1000, 200, 20
	rng := rand.New(rand.NewPCG(8, 8))
	skilled := func(won, calls int64) bool { return wins(at(calls, 5000)).atLeast(won) < tail }
	grouped, repeated := 0, 0
	for range operators {
		won := int64(0)
		for range calls / 10 {
			won += 10 * rng.Int64N(2)
		}
		if skilled(won, calls) {
			grouped++
		}
	}
	least := map[int64]int64{} // minimum wins for a lower end above 0, by number of calls
	for n := int64(first); n <= calls; n++ {
		for least[n] = n / 2; !skilled(least[n], n); {
			least[n]++
		}
	}
	for range operators {
		won := int64(0)
		for n := int64(1); n <= calls; n++ {
			if won += rng.Int64N(2); n >= first && won >= least[n] {
				repeated++
				break
			}
		}
	}
	t.Logf("of %d operators without skill, lower end above 0: %d with ten calls of one outcome each, %d at one of the reads",
		operators, grouped, repeated)
	if grouped < 230 || grouped > 270 || repeated < 100 || repeated > 120 {
		t.Errorf("error rates of %d and %d per 1000; docs/method.md states 25%% and 11%%", grouped, repeated)
	}
}
