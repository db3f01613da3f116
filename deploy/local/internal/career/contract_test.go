package career

import (
	"testing"

	"pgregory.net/rapid"
)

// The vectors are those of the contract, section 7.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ basis, won, lost int }{
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
		for _, side := range []Side{CallYes, CallNo} {
			if status, score := Judge(side, c.basis, Verdict(side)); status != Won || score != c.won {
				t.Errorf("%s at %d, right: %s %d, want won %d", side, c.basis, status, score, c.won)
			}
			if status, score := Judge(side, c.basis, Verdict(side.Other())); status != Lost || score != c.lost {
				t.Errorf("%s at %d, wrong: %s %d, want lost %d", side, c.basis, status, score, c.lost)
			}
			if status, score := Judge(side, c.basis, Invalid); status != Void || score != 0 {
				t.Errorf("%s at %d, annulled: %s %d", side, c.basis, status, score)
			}
		}
	}
}

func TestNoPriceIsAFreeRide(t *testing.T) {
	t.Parallel()
	for p := 1; p < full; p++ {
		_, won := Judge(CallYes, p, Yes)
		_, lost := Judge(CallYes, p, No)
		if p*won+(full-p)*lost > 0 {
			t.Fatalf("a call at %d gains on average when the price is right", p)
		}
	}
}

func TestClosingLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		side  Side
		basis int
		want  int
	}{{CallYes, 6190, 910}, {CallNo, 3810, -910}, {CallNo, 2500, 400}} {
		if got := CLV(c.side, c.basis, 7100, Yes); got == nil || *got != c.want {
			t.Errorf("%s at %d: %s, want %d", c.side, c.basis, show(got), c.want)
		}
	}
	if got := CLV(CallYes, 6190, 7100, Invalid); got != nil {
		t.Errorf("a void has a closing-line value of %d", *got)
	}
}

func TestRepairAndGuard(t *testing.T) {
	t.Parallel()
	const yes = 3000
	for _, c := range []struct {
		side          Side
		price, stored int
	}{{CallNo, 3000, 7000}, {CallNo, 6900, 6900}, {CallNo, 5000, 5000}, {CallYes, 7000, 7000}, {CallYes, 3000, 3000}} {
		if got := Stored(c.side, c.price, yes); got != c.stored {
			t.Errorf("%s at %d is stored as %d, want %d", c.side, c.price, got, c.stored)
		}
	}
	for _, c := range []struct {
		side         Side
		price, basis int
	}{{CallNo, 6850, 6850}, {CallNo, 5000, 6000}, {CallYes, 100, 2000}, {CallYes, 3400, 3400}} {
		if got := Basis(c.side, Stored(c.side, c.price, yes), yes, Tolerance); got != c.basis {
			t.Errorf("%s at %d counts as %d, want %d", c.side, c.price, got, c.basis)
		}
	}
}

func TestSampleOperator(t *testing.T) {
	t.Parallel()
	var tally Tally
	for i := range 19 {
		v := Yes
		switch {
		case i >= 18:
			v = Invalid
		case i >= 12:
			v = No
		}
		tally.Add(Expect(Call{Side: CallYes, Price: 6400}, Question{YesBps: 6400, Verdict: v}, Tolerance))
	}
	if tally.Score != 48 || Accuracy(tally.Won, tally.Lost) != 67 || tally.Resolved() != 18 || tally.Void != 1 || tally.Total != 19 {
		t.Errorf("%+v", tally)
	}
	if Accuracy(0, 0) != 0 || Accuracy(1, 7) != 13 { // 12.5 goes up
		t.Error("accuracy")
	}
}

func TestBroadcast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ score, resolved, calls, takes, low, high int }{
		{0, 0, 0, 0, 250, 250},        // average, silent
		{-70, 1, 1, 0, 197, 197},      // 250 - 63.64 + 10.71
		{48, 18, 24, 0, 524, 524},     // 250 + 17.14 + 257.14
		{48, 18, 24, 8, 567, 567},     // eight takes fill the month
		{100000, 10, 28, 0, 800, 800}, // both ends are held
		{-100000, 10, 1000, 99, 300, 300},
		{1, 10, 0, 0, 250, 251}, // 250.5: the middle goes either way
	} {
		if low, high := Broadcast(c.score, c.resolved, c.calls, c.takes); low != c.low || high != c.high {
			t.Errorf("%+v: %d to %d", c, low, high)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		resolved := rapid.IntRange(0, 1000).Draw(t, "resolved")
		low, high := Broadcast(rapid.IntRange(-100*resolved, 99*resolved).Draw(t, "score"), resolved,
			rapid.IntRange(0, 1000).Draw(t, "calls"), rapid.IntRange(0, 1000).Draw(t, "takes"))
		if low < 0 || high > 800 || high-low > 1 {
			t.Fatalf("%d to %d", low, high)
		}
	})
}
