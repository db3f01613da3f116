package skill

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestQValues uses the fifteen chances of the paper of 1995: at 5 % four of them
// are found.
func TestQValues(t *testing.T) {
	t.Parallel()
	paper := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000}
	want := []float64{0.0015, 0.003, 0.0095, 0.035625, 0.0603}
	q := QValues(paper)
	for i, w := range want {
		if math.Abs(q[i]-w) > 1e-12 {
			t.Errorf("%d: %g, want %g", i, q[i], w)
		}
	}
	for i := 1; i < len(q); i++ {
		if q[i] < q[i-1] || q[i] > 1 {
			t.Errorf("%v", q)
		}
	}
	if len(QValues(nil)) != 0 {
		t.Error("nobody has no q")
	}
	turned := QValues([]float64{0.04, 0.01, 0.04})
	if turned[0] != turned[2] || turned[1] != 0.03 {
		t.Errorf("%v", turned)
	}
}

// TestDiscoveriesOnABoard has boards of 450 operators without skill and 50 with
// six points, 300 calls each. Of those with q at most 10 % one in ten is there
// by luck, on average over the boards; the lower bound alone lets through more.
func TestDiscoveriesOnABoard(t *testing.T) {
	t.Parallel()
	const boards, people, skilled, calls, limit = 100, 500, 50, 300, 0.1
	rng := rand.New(rand.NewPCG(6, 6))
	null := wins(at(calls, 5000))
	var byQ, byLow, found float64 // shares found by luck, summed over boards
	for range boards {
		chances := make([]float64, people)
		for i := range chances {
			chance, won := 5000, int64(0)
			if i < skilled {
				chance = 5600
			}
			for range calls {
				if rng.IntN(10000) < chance {
					won++
				}
			}
			chances[i] = null.atLeast(won)
		}
		share, n := lucky(QValues(chances), limit, skilled)
		byQ, found = byQ+share, found+float64(n)
		share, _ = lucky(chances, tail, skilled)
		byLow += share
	}
	t.Logf("q at most 10%%: %.1f operators found on a board, %.1f%% of them by luck; lower bound above 0: %.1f%% by luck", found/boards, 100*byQ/boards, 100*byLow/boards)
	if found < boards || byQ/boards > limit || byLow <= byQ {
		t.Errorf("found by luck: %.3f with q, %.3f above 0", byQ/boards, byLow/boards)
	}
}

// lucky is the share of those without skill among all at or below the limit.
func lucky(values []float64, limit float64, skilled int) (share float64, n int) {
	without := 0
	for i, v := range values {
		if v <= limit {
			if n++; i >= skilled {
				without++
			}
		}
	}
	return float64(without) / float64(max(n, 1)), n
}
