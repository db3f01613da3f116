package skill

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// row is an entry of a simulated leaderboard: the result of one operator with 200 calls.
type row struct {
	style           string
	low, edge, wins int
}

// simulateBoard simulates 300 operators with 200 calls each: 100 choose favourites, 100 choose prices near 50%, and 100 are
// right five percentage points more often than the price.
func simulateBoard(t *testing.T, rng *rand.Rand) (rows []row) {
	t.Helper()
	middle := func(rng *rand.Rand) int { return 3000 + rng.IntN(4001) }
	for _, kind := range []struct {
		style string
		price func(*rand.Rand) int
		knows int
	}{{"favourites", styles["favourites"], 0}, {"coin flips", styles["coin flips"], 0}, {"informed", middle, 500}} {
		for range 100 {
			s := play(t, rng, choose(rng, 200, kind.price), func(p int) int { return p + kind.knows })
			low, _ := s.bounds(s.odds())
			rows = append(rows, row{kind.style, low, EdgeBps(s.calls, s.wins, s.prices), int(s.wins)})
		}
	}
	return rows
}

// TestInformedCallersLead checks that operators with better information lead leaderboards that are ordered by the lower
// bound of the edge. It also computes the order by win rate, for comparison.
func TestInformedCallersLead(t *testing.T) {
	t.Parallel()
	const boards = 40
	rng := rand.New(rand.NewPCG(7, 7))
	leads, top, above, byWins := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for range boards {
		rows := simulateBoard(t, rng)
		slices.SortStableFunc(rows, func(a, b row) int { return b.low - a.low })
		leads[rows[0].style]++
		for _, r := range rows[:10] {
			top[r.style]++
		}
		for _, r := range rows {
			if r.low > 0 {
				above[r.style]++
			}
		}
		byWins[slices.MaxFunc(rows, func(a, b row) int { return a.wins - b.wins }).style]++
	}
	t.Logf("%d boards of 300 operators with 200 calls, by lower bound: first %v, among the first ten %v, above 0 of 4000 each %v; by share of wins: first %v",
		boards, leads, top, above, byWins)
	if leads["informed"] < boards*95/100 || top["informed"] < boards*10*8/10 {
		t.Errorf("informed operators lead %d of %d boards and have %d of %d places in the top ten",
			leads["informed"], boards, top["informed"], boards*10)
	}
	if byWins["favourites"] != boards {
		t.Errorf("leaders by win rate: %v; want favourites to lead all boards", byWins)
	}
	for _, style := range []string{"favourites", "coin flips"} {
		if above[style] > 4000*3/100 {
			t.Errorf("%s: the lower bound is above 0 for %d of 4000 operators without skill", style, above[style])
		}
	}
}
