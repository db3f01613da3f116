package skill

import (
	"math/rand/v2"
	"testing"
)

// TestWhatTheNumbersCannotBear gives the figures of "Limits" in docs/method.md:
// how often somebody without skill gets a lower bound above 0 where calls hang
// together, and where one looks again and again. Both are more than the 2.5 %
// of independent calls looked at once.
func TestWhatTheNumbersCannotBear(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	const people = 1000
	null := wins(at(200, 5000))
	together, again := 0, 0
	for range people {
		won := int64(0)
		for range 20 { // events, each of which decides ten calls
			won += 10 * rng.Int64N(2)
		}
		if null.atLeast(won) < tail {
			together++
		}
	}
	known := make([]pmf, 0, 200)
	for n := int64(20); n <= 200; n++ {
		known = append(known, wins(at(n, 5000)))
	}
	for range people {
		won := int64(0)
		for n := int64(1); n <= 200; n++ {
			won += rng.Int64N(2)
			if n >= 20 && known[n-20].atLeast(won) < tail {
				again++
				break
			}
		}
	}
	t.Logf("of %d without skill, lower bound above 0: %d with ten calls on each of 20 events, %d at some time between call 20 and call 200", people, together, again)
	if together < people*10/100 || again < people*5/100 {
		t.Error("the limits are not what the page says")
	}
}
