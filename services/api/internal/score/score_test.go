package score

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/syntax"
)

func TestOfVectors(t *testing.T) {
	t.Parallel()
	for _, v := range []struct{ basis, won, lost int }{
		{0, 99, -1},
		{40, 99, -1},
		{100, 99, -1},
		{150, 98, -2},
		{1250, 87, -13},
		{3333, 66, -34},
		{5000, 50, -50},
		{6400, 36, -64},
		{9900, 1, -99},
		{9960, 0, -100},
		{10000, 0, -100},
	} {
		if got := Of(syntax.Yes, syntax.Bps(v.basis), syntax.VerdictYes, nil); got.Score != v.won || got.Status != syntax.Won {
			t.Errorf("won at %d: %+v, want %d", v.basis, got, v.won)
		}
		if got := Of(syntax.No, syntax.Bps(v.basis), syntax.VerdictYes, nil); got.Score != v.lost || got.Status != syntax.Lost {
			t.Errorf("lost at %d: %+v, want %d", v.basis, got, v.lost)
		}
	}
}

func TestNoPriceHasAPositiveExpectation(t *testing.T) {
	t.Parallel()
	for p := 1; p < 10000; p++ {
		won := Of(syntax.Yes, syntax.Bps(p), syntax.VerdictYes, nil).Score
		lost := Of(syntax.Yes, syntax.Bps(p), syntax.VerdictNo, nil).Score
		if p*won+(10000-p)*lost > 0 {
			t.Fatalf("price %d: expectation of a call at the true price is positive", p)
		}
	}
}

func TestCLVVectors(t *testing.T) {
	t.Parallel()
	closing := syntax.Bps(7100)
	for _, v := range []struct {
		side  syntax.Side
		basis syntax.Bps
		want  int
	}{{syntax.Yes, 6190, 910}, {syntax.No, 3810, -910}, {syntax.No, 2500, 400}} {
		if got := Of(v.side, v.basis, syntax.VerdictYes, &closing); got.CLV == nil || *got.CLV != v.want {
			t.Errorf("%s at %d: %v, want %d", v.side, v.basis, got.CLV, v.want)
		}
	}
	if got := Of(syntax.Yes, 6190, syntax.VerdictInvalid, &closing); got.CLV != nil || got.Outcome != nil || got.Status != syntax.Void || got.Score != 0 {
		t.Errorf("void: %+v", got)
	}
}

func TestInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		basis := syntax.Bps(rapid.IntRange(0, 10000).Draw(t, "basis"))
		side := rapid.SampledFrom([]syntax.Side{syntax.Yes, syntax.No}).Draw(t, "side")
		verdict := rapid.SampledFrom([]syntax.Verdict{syntax.VerdictYes, syntax.VerdictNo, syntax.VerdictInvalid}).Draw(t, "verdict")
		r := Of(side, basis, verdict, nil)
		switch r.Status {
		case syntax.Won:
			if r.Score < 0 || r.Score > 99 {
				t.Fatal(r.Score)
			}
		case syntax.Lost:
			if r.Score < -100 || r.Score > -1 {
				t.Fatal(r.Score)
			}
		case syntax.Void:
			if r.Score != 0 {
				t.Fatal(r.Score)
			}
		default:
			t.Fatal(r.Status)
		}
	})
}

func TestAccuracy(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		won, lost int64
		want      int
	}{{0, 0, 0}, {12, 6, 67}, {1, 1, 50}, {1, 199, 1}, {1, 201, 0}} {
		if got := Accuracy(v.won, v.lost); got != v.want {
			t.Errorf("%d/%d: %d, want %d", v.won, v.lost, got, v.want)
		}
	}
}
