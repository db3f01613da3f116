package breaker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/breaker"
)

const failures, rest = 5, 1500 * time.Millisecond

// call simulates a call with the outcome o to the dependency that the breaker b protects. It reports whether b admitted
// the call.
func call(b *breaker.Breaker, o breaker.Outcome) bool {
	ok := b.Enter()
	if ok {
		b.Leave(o)
	}
	return ok
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	var changes []bool
	b := breaker.New(breaker.Config{
		Failures: failures, Rest: rest, Now: func() time.Time { return now },
		OnChange: func(open bool) { changes = append(changes, open) },
	})
	for i := range failures - 1 {
		if !call(b, breaker.Failure) {
			t.Fatalf("rejected a call after %d failures; want %d", i, failures)
		}
	}
	call(b, breaker.Success)
	for range failures {
		call(b, breaker.Failure)
	}
	if !b.Open() || !b.Refuses() || call(b, breaker.Success) {
		t.Errorf("admitted a call at once after %d failures", failures)
	}
	now = now.Add(rest)
	if !b.Open() || b.Refuses() || !b.Enter() || !b.Refuses() || b.Enter() {
		t.Error("want exactly one probe after the rest period")
	}
	b.Leave(breaker.Neither)
	if !call(b, breaker.Failure) || call(b, breaker.Success) {
		t.Error("a failed probe must start another rest period")
	}
	now = now.Add(rest)
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Success, breaker.Failure, breaker.Success} {
		if !call(b, o) {
			t.Error("a successful probe must close the breaker")
		}
	}
	if want := []bool{true, false}; !slices.Equal(changes, want) || b.Open() {
		t.Errorf("changes %v, want %v", changes, want)
	}
}

func TestNeitherKeepsTheCountOfFailures(t *testing.T) {
	t.Parallel()
	b := breaker.New(breaker.Config{Failures: failures, Rest: rest, Now: time.Now})
	for range failures - 1 {
		b.Leave(breaker.Failure)
	}
	b.Leave(breaker.Neither)
	if b.Leave(breaker.Failure); !b.Refuses() {
		t.Errorf("still closed after %d failures with one other outcome between them", failures)
	}
}
