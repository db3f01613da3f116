package skill

import (
	"math/rand/v2"
	"testing"
)

// TestLimitsOfTheMethod checks two figures of "Limits" in docs/method.md. It simulates operators who guess: 200 calls each at a
// price of 5000 bps. The method finds skill if the confidence interval begins above 0, here by error. The error rate is 2.5 %
// when the calls are independent and the record is read once, after the last call. It is 25 % when every ten calls in sequence
// share one outcome. It is 11 % when the record is read after each call from the 20th on and an operator counts as an error as
// soon as one reading finds skill.
func TestLimitsOfTheMethod(t *testing.T) {
	t.Parallel()
	const operators, calls, first = 1000, 200, 20
	rng := rand.New(rand.NewPCG(8, 8))
	skilled := func(won, calls int64) bool { return wins(at(calls, 5000)).atLeast(won) < tail }
	together, repeated := 0, 0
	for range operators {
		won := int64(0)
		for range calls / 10 {
			won += 10 * rng.Int64N(2)
		}
		if skilled(won, calls) {
			together++
		}
	}
	least := map[int64]int64{} // wins from which the lower end is above 0, by calls
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
		operators, together, repeated)
	if together < 230 || together > 270 || repeated < 100 || repeated > 120 {
		t.Errorf("docs/method.md has 25 %% and 11 %%")
	}
}
