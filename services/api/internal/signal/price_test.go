package signal

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/syntax"
)

func bps(n int) *syntax.Bps { b := syntax.Bps(n); return &b }

func TestRepairVectors(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		side  syntax.Side
		price int
		snap  *syntax.Bps
		want  int
	}{
		{syntax.No, 3000, bps(3000), 7000},
		{syntax.No, 6900, bps(3000), 6900},
		{syntax.No, 5000, bps(3000), 5000},
		{syntax.Yes, 7000, bps(3000), 7000},
		{syntax.No, 3000, nil, 3000},
	} {
		if got := Repair(v.side, syntax.Bps(v.price), v.snap); int(got) != v.want {
			t.Errorf("%s at %d: %d, want %d", v.side, v.price, got, v.want)
		}
	}
}

func TestBasisVectors(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		side  syntax.Side
		price int
		snap  *syntax.Bps
		want  int
	}{
		{syntax.No, 6850, bps(3000), 6850},
		{syntax.No, 5000, bps(3000), 6000},
		{syntax.Yes, 100, bps(3000), 2000},
		{syntax.Yes, 3400, bps(3000), 3400},
		{syntax.Yes, 100, nil, 100},
	} {
		if got := Basis(v.side, syntax.Bps(v.price), v.snap, 1000); int(got) != v.want {
			t.Errorf("%s at %d: %d, want %d", v.side, v.price, got, v.want)
		}
	}
}

func TestMoveVectors(t *testing.T) {
	t.Parallel()
	if got := Move(syntax.Yes, 3150, 3600); got != 450 {
		t.Error(got)
	}
	if got := Move(syntax.No, 6850, 3600); got != -450 {
		t.Error(got)
	}
}
