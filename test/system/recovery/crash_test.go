package recovery

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// exclusive returns the system whose processes tests kill.
func exclusive(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.Hubs(2), stack.ScoredAtOnce())
}

// writeDuring runs 16 writers while crash is called the given number of times, each time after at least 100 acknowledged calls, and stops
// them after the last crash.
func writeDuring(t *testing.T, s *stack.Stack, crashes int, crash func(i int)) *stack.CallWriters {
	t.Helper()
	var markets []string
	for range 60 {
		markets = append(markets, s.NewNativeMarket(t, 5000, nil))
	}
	w := s.StartCallWriters(t, 16, s.SeedOperators(t, stack.Size(t, 300, 1000, 4000)), markets)
	for i := range crashes {
		before := w.Count()
		stack.Wait(t, time.Duration(300+rand.IntN(500))*time.Millisecond)
		stack.Eventually(t, 30*time.Second, "100 acknowledged calls", func() bool { return w.Count() >= before+100 })
		crash(i)
	}
	stack.Wait(t, 300*time.Millisecond)
	w.Stop()
	return w
}

// TestAcknowledgedCallsSurviveTheKillOfAHub kills one hub after the other with SIGKILL.
func TestAcknowledgedCallsSurviveTheKillOfAHub(t *testing.T) {
	s := exclusive(t)
	hubs := []string{"hub", "hub-2"}
	w := writeDuring(t, s, stack.Size(t, 3, 5, 50), func(i int) { s.Crash(t, hubs[i%2]) })
	w.RequireStored(t)
}

// TestAcknowledgedCallsSurviveTheKillOfPostgres kills Postgres with all its processes. What the kernel has received is not
// lost: the test does not cover lost page caches and disks that acknowledge early.
func TestAcknowledgedCallsSurviveTheKillOfPostgres(t *testing.T) {
	s := exclusive(t)
	w := writeDuring(t, s, stack.Size(t, 1, 4, 50), func(int) { s.Crash(t, "postgres") })
	w.RequireStored(t)
}

// TestCallInDoubtIsAnsweredOnRetry sends each call whose answer was lost in a crash again, and calls that are certainly stored. The
// answer names the stored call, whether the first attempt stored it or not.
func TestCallInDoubtIsAnsweredOnRetry(t *testing.T) {
	s := exclusive(t)
	victims := []string{"postgres", "hub", "api", "hub-2"}
	w := writeDuring(t, s, stack.Size(t, 2, 4, 20), func(i int) { s.Crash(t, victims[i%len(victims)]) })
	s.RequireReady(t)
	if len(w.InDoubt) == 0 {
		t.Fatal("no call is in doubt")
	}
	inDoubt := append(w.InDoubt, w.Acknowledged[:min(40, len(w.Acknowledged))]...)
	var markets []string
	for _, c := range inDoubt {
		markets = append(markets, c.Market)
	}
	before := s.CallsOn(t, markets)
	answers, errs := make([]stack.Answer, len(inDoubt)), make([]error, len(inDoubt))
	stack.Each(len(inDoubt), 8, func(i int) { answers[i], errs[i] = inDoubt[i].Send(t, s.HubAt(i)) })
	after := s.CallsOn(t, markets)
	committed := 0
	for i, c := range inDoubt {
		was, stored := before[c.Pair()]
		is := after[c.Pair()]
		if stored {
			committed++
		}
		status, code := http.StatusOK, "" // the first answer of the key, or that of a new call
		if stored && c.Key == "" {
			status, code = http.StatusConflict, "already_predicted"
		}
		a, err := answers[i], errs[i]
		switch {
		case err != nil:
			t.Errorf("a call in doubt was sent again: %v", err)
		case a.Status != status || a.Code() != code || a.Text("id") != is.ID:
			t.Errorf("a call in doubt (stored: %v, with a key: %v) was answered %d %s; want %d %s with id %s\n%.300s",
				stored, c.Key != "", a.Status, a.Code(), status, code, is.ID, a.Body)
		case !is.Is(c) || stored && is != was:
			t.Errorf("stored is %+v, before the retry %+v; sent was YES %v at %d", is, was, c.Yes, c.Price)
		}
	}
	t.Logf("%d calls in doubt, %d of them were stored", len(inDoubt), committed)
}
