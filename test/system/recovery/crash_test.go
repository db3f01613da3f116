package recovery

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// exclusive returns the system whose processes the tests kill. Only one test uses it at a time.
func exclusive(t *testing.T) *stack.Stack {
	t.Helper()
	return stack.Exclusive(t, stack.Hubs(2), stack.ScoredAtOnce())
}

// writeDuring runs 16 writers of calls. It calls crash the given number of times, each time after at least 100 more calls are
// acknowledged. It stops the writers after the last crash and returns them.
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

// TestAcknowledgedCallsSurviveTheKillOfAHub kills the hubs with SIGKILL, one after the other. No acknowledged call may be lost.
func TestAcknowledgedCallsSurviveTheKillOfAHub(t *testing.T) {
	s := exclusive(t)
	hubs := []string{"hub", "hub-2"}
	w := writeDuring(t, s, stack.Size(t, 3, 5, 50), func(i int) { s.Crash(t, hubs[i%2]) })
	w.RequireStored(t)
}

// TestAcknowledgedCallsSurviveTheKillOfPostgres kills all processes of Postgres. No acknowledged call may be lost. Data that
// the kernel has received survives a kill, so the test does not cover a power failure or disks that acknowledge writes too
// early.
func TestAcknowledgedCallsSurviveTheKillOfPostgres(t *testing.T) {
	s := exclusive(t)
	w := writeDuring(t, s, stack.Size(t, 3, 4, 50), func(int) { s.Crash(t, "postgres") })
	w.RequireStored(t)
}

// TestCallInDoubtIsAnsweredOnRetry repeats each call whose answer was lost in a crash, and 40 acknowledged calls. The answer
// must contain the id of the stored call, even if the first attempt did not store it.
func TestCallInDoubtIsAnsweredOnRetry(t *testing.T) {
	s := exclusive(t)
	victims := []string{"postgres", "hub", "api", "hub-2"}
	w := writeDuring(t, s, stack.Size(t, 2, 4, 20), func(i int) { s.Crash(t, victims[i%len(victims)]) })
	s.RequireReady(t)
	if len(w.InDoubt) == 0 {
		t.Fatal("every call was answered during the crashes; want calls in doubt")
	}
	repeated := slices.Concat(w.InDoubt, w.Acknowledged[:40])
	var markets []string
	for _, c := range repeated {
		markets = append(markets, c.Market)
	}
	before := s.CallsOn(t, markets)
	answers, errs := make([]stack.Answer, len(repeated)), make([]error, len(repeated))
	stack.Each(len(repeated), 8, func(i int) { answers[i], errs[i] = repeated[i].Send(t, s.HubAt(i)) })
	after := s.CallsOn(t, markets)
	committed := 0
	for i, c := range repeated {
		was, stored := before[c.Pair()]
		is := after[c.Pair()]
		if stored {
			committed++
		}
		status, code := http.StatusOK, "" // the first answer for the key, or the answer for a new call
		if stored && c.Key == "" {
			status, code = http.StatusConflict, "already_predicted"
		}
		a, err := answers[i], errs[i]
		switch {
		case err != nil:
			t.Errorf("repeat a call: %v", err)
		case a.Status != status || a.Code() != code || a.Text("id") != is.ID:
			t.Errorf("a repeated call (stored: %v, with a key: %v) was answered %d %s; want %d %s with id %s\n%.300s",
				stored, c.Key != "", a.Status, a.Code(), status, code, is.ID, a.Body)
		case !is.Is(c) || stored && is != was:
			t.Errorf("the stored call is %+v, and was %+v before the retry; sent was YES: %v at price %d", is, was, c.Yes, c.Price)
		}
	}
	t.Logf("%d calls repeated, %d of them were stored", len(repeated), committed)
}
