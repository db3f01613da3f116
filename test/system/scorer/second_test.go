package scorer_test

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/scorer"
)

// The vectors of the protocol.
func TestVectors(t *testing.T) {
	t.Parallel()
	for basis, want := range map[int][2]int{
		0: {99, -1}, 40: {99, -1}, 100: {99, -1}, 150: {98, -2}, 1250: {87, -13}, 3333: {66, -34}, 5000: {50, -50},
		6400: {36, -64}, 9900: {1, -99}, 9960: {0, -100}, 10000: {0, -100},
	} {
		won, lost := scorer.Scored(true, basis, "YES", nil), scorer.Scored(true, basis, "NO", nil)
		if won.Score != want[0] || lost.Score != want[1] || won.Status != "won" || lost.Status != "lost" {
			t.Errorf("%d: %+v, %+v", basis, won, lost)
		}
	}
	closing := 7100
	for _, c := range []struct {
		yes         bool
		basis, want int
	}{{true, 6190, 910}, {false, 3810, -910}, {false, 2500, 400}} {
		if got := scorer.Scored(c.yes, c.basis, "YES", &closing); *got.CLV != c.want {
			t.Errorf("%+v: %d", c, *got.CLV)
		}
	}
	if got := scorer.Scored(true, 5000, "INVALID", &closing); got.CLV != nil || got.Score != 0 || got.Status != "void" || got.Outcome != nil {
		t.Errorf("%+v", got)
	}
	snap := 3000
	for _, c := range []struct {
		yes          bool
		price        int
		snap         *int
		stored, base int
	}{
		{false, 3000, &snap, 7000, 7000},
		{false, 6900, &snap, 6900, 6900},
		{false, 6850, &snap, 6850, 6850},
		{false, 5000, &snap, 5000, 6000},
		{true, 100, &snap, 100, 2000},
		{true, 3400, &snap, 3400, 3400},
		{true, 100, nil, 100, 100},
		{false, 3000, nil, 3000, 3000},
	} {
		got := scorer.Of(scorer.Case{Yes: c.yes, Price: c.price, Snap: c.snap, Tolerance: 1000, Verdict: "YES"})
		if got.Price != c.stored || got.Basis != c.base {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
