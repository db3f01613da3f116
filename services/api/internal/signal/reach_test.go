package signal_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// filer keeps the drafts that it is given.
type filer struct {
	signal.Store
	got []signal.Draft
}

func (f *filer) File(_ context.Context, _ signal.Caller, d signal.Draft) (signal.Filing, error) {
	f.got = append(f.got, d)
	return signal.Filing{Verdict: signal.VerdictFiled}, nil
}

func (f *filer) FileMany(_ context.Context, calls []signal.Call) ([]signal.Filing, []error) {
	for _, c := range calls {
		f.got = append(f.got, c.Draft)
	}
	return make([]signal.Filing, len(calls)), make([]error, len(calls))
}

// uncalled is markets that take no note of calls.
type uncalled struct{ signal.Markets }

func (uncalled) Called(syntax.MarketID, *time.Time) {}

// Our own count of who looks at a market stands in a call, whatever its client says; of
// a market that nobody looks at the client is taken at its word.
func TestReachIsCounted(t *testing.T) {
	t.Parallel()
	store := &filer{}
	s := signal.NewService(store, uncalled{}, time.Now)
	said := int64(9000)
	draft := func(id syntax.MarketID) signal.Draft {
		return signal.Draft{ID: "x", MarketID: id, Side: syntax.Yes, Price: 3150, Reach: &said}
	}
	file := func(id syntax.MarketID) {
		t.Helper()
		if _, err := s.File(t.Context(), signal.Caller{}, draft(id)); err != nil {
			t.Fatal(err)
		}
		_ = s.FileMany(t.Context(), []signal.Call{{Draft: draft(id)}})
	}
	file("7")
	s.Count(func(id syntax.MarketID) int { return map[syntax.MarketID]int{"7": 42}[id] })
	file("7")
	file("8")
	for i, want := range []int64{9000, 9000, 42, 42, 9000, 9000} {
		if *store.got[i].Reach != want {
			t.Errorf("call %d reaches %d, want %d", i, *store.got[i].Reach, want)
		}
	}
	if said != 9000 {
		t.Error("what the client said was written over")
	}
}
