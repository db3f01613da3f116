package skill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func someCalls(t *rapid.T) []Call {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Call {
		return Call{
			Price:      protocol.Bps(rapid.IntRange(0, 10000).Draw(t, "price")),
			Won:        rapid.Bool().Draw(t, "won"),
			Confidence: rapid.IntRange(0, 100).Draw(t, "confidence"),
		}
	}), 1, 60).Draw(t, "calls")
}

func of(t rapid.TB, calls ...Call) *Sample {
	s := new(Sample)
	for _, c := range calls {
		if err := s.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestOrderAndLanesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls := someCalls(t)
		want, _ := of(t, calls...).Report()
		shuffled := rapid.Permutation(calls).Draw(t, "order")
		if got, _ := of(t, shuffled...).Report(); !cmp.Equal(want, got) {
			t.Fatal(cmp.Diff(want, got))
		}
		cut := rapid.IntRange(0, len(calls)).Draw(t, "cut")
		all := new(Sample)
		for _, lane := range [][]Call{shuffled[:cut], shuffled[cut:]} {
			if err := all.Merge(of(t, lane...)); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := all.Report(); !cmp.Equal(want, got) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func TestTalliesEqualSingleCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls := someCalls(t)
		type key struct {
			price      protocol.Bps
			confidence int
		}
		rows := map[key]Tally{}
		for _, c := range calls {
			k := key{c.Price, c.Confidence}
			r := rows[k]
			r.Price, r.Confidence, r.Calls = c.Price, c.Confidence, r.Calls+1
			if c.Won {
				r.Wins++
			}
			rows[k] = r
		}
		s := new(Sample)
		for _, r := range rows {
			if err := s.AddTally(r); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := of(t, calls...).Report()
		if got, _ := s.Report(); !cmp.Equal(want, got) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func TestPropertiesOfAReport(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		calls := someCalls(t)
		s := of(t, calls...)
		r, _ := s.Report()
		if r.LowBps > r.EdgeBps || r.EdgeBps > r.HighBps || r.LowBps < -r.PriceBps-1 || r.HighBps > 10000-r.PriceBps+1 {
			t.Fatalf("the interval does not contain the edge or is too wide: %+v", r)
		}
		if r.Above+r.Below < 1-1e-9 || r.TwoSided > 1 {
			t.Fatalf("impossible probabilities: %+v", r)
		}
		// The lower end of the interval and the upper tail probability are the same test.
		low, _ := interval(s.odds(), s.calls, s.wins)
		if clear := low - float64(s.prices)/float64(s.calls); clear > 1e-6 != (r.Above < tail-1e-9) && (clear < -1e-6 || clear > 1e-6) {
			t.Fatalf("the lower end is %g above the price, but the tail probability is %g", clear, r.Above)
		}
		// The opposite call on every market yields the mirrored report.
		against := make([]Call, len(calls))
		for i, c := range calls {
			against[i] = Call{Price: protocol.MaxBps - c.Price, Won: !c.Won}
		}
		if m, _ := of(t, against...).Report(); m.LowBps != -r.HighBps || m.HighBps != -r.LowBps || !near(m.Above, r.Below, 1e-9) || m.EdgeBps != -r.EdgeBps {
			t.Fatalf("%+v\n%+v", r, m)
		}
		// A win instead of a loss improves every figure.
		for i := range calls {
			if calls[i].Won {
				continue
			}
			calls[i].Won = true
			if b, _ := of(t, calls...).Report(); b.LowBps < r.LowBps || b.HighBps < r.HighBps || b.EdgeBps < r.EdgeBps || b.Above > r.Above {
				t.Fatalf("%+v\n%+v", r, b)
			}
			break
		}
	})
}
