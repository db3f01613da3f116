package skill

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func TestRejectedCallsDoNotChangeTheSample(t *testing.T) {
	t.Parallel()
	s := of(t, Call{Price: 4000, Won: true, Confidence: 60})
	want, _ := s.Report()
	for _, c := range []struct {
		t    Tally
		want error
	}{
		{Tally{Price: -1, Calls: 1}, ErrPrice},
		{Tally{Price: 10001, Calls: 1}, ErrPrice},
		{Tally{Price: 1, Calls: 1, Confidence: 101}, ErrConfidence},
		{Tally{Price: 1, Calls: 1, Confidence: -1}, ErrConfidence},
		{Tally{Price: 1, Calls: 1, Wins: 2}, ErrCount},
		{Tally{Price: 1, Calls: -1, Wins: -2}, ErrCount},
		{Tally{Price: 1, Calls: MaxCalls}, ErrCount},
	} {
		if err := s.AddTally(c.t); !errors.Is(err, c.want) {
			t.Errorf("AddTally(%+v) returned %v", c.t, err)
		}
	}
	full := new(Sample)
	if err := full.AddTally(Tally{Price: 1, Calls: MaxCalls}); err != nil {
		t.Fatal(err)
	}
	if err := s.Merge(full); !errors.Is(err, ErrCount) {
		t.Error(err)
	}
	if got, _ := s.Report(); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestOnlyDecidedCallsCount(t *testing.T) {
	t.Parallel()
	for status, want := range map[protocol.SignalStatus]bool{protocol.Won: true, protocol.Lost: true, protocol.Void: false, protocol.Pending: false} {
		if c, ok := Decided(status, 3100, 70); ok != want || ok && c != (Call{3100, status == protocol.Won, 70}) {
			t.Errorf("Decided for status %s returned %+v, %v", status, c, ok)
		}
	}
	if _, ok := new(Sample).Report(); ok {
		t.Error("an empty sample has a report")
	}
}

func TestEdgeFromCounters(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		s := play(t, rng, choose(rng, 1+rng.IntN(30), styles["everything"]), truePrice)
		r := report(t, s)
		want := 0
		if d := 10000*s.wins - s.prices; d != 0 {
			want = int((2*max(d, -d) + s.calls) / (2 * s.calls))
			if d < 0 {
				want = -want
			}
		}
		if r.EdgeBps != want {
			t.Fatalf("report %+v, want an edge of %d", r, want)
		}
	}
	if EdgeBps(0, 0, 0) != 0 || EdgeBps(2, 1, 9999) != 1 || EdgeBps(2, 1, 10001) != -1 {
		t.Error("EdgeBps must round half away from zero and be 0 without calls")
	}
}
