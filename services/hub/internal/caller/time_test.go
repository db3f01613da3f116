package caller

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestClockChanges(t *testing.T) {
	testkit.ClockChanges(t, "session", noon, func(t *testing.T, m *testkit.Machine) {
		s := NewSessions([]string{secretA}, &storedSessions{}, false, m.Now)
		uid, sig := s.issue("u1", 3, m.Now())
		m.ChangeClock()
		if _, err := s.Read(uid, sig); err != nil {
			t.Error("a new session is invalid")
		}
		m.Advance(maxSessionAge - time.Second)
		if _, err := s.Read(uid, sig); err != nil {
			t.Error("a session expired too early")
		}
		m.Advance(2 * time.Second)
		if _, err := s.Read(uid, sig); err == nil {
			t.Error("a session did not expire")
		}
	})
	testkit.ClockChanges(t, "wrong secrets", noon, func(t *testing.T, m *testkit.Machine) {
		f := NewFailures(Counters{Redis: testkit.KV(t, "redis://127.0.0.1:1"), Now: m.Now, OnFallback: func(string) func() { return nil }}, "secret")
		for range MaxFailures {
			f.Failed(t.Context(), "a")
		}
		m.Advance(59 * time.Second)
		m.ChangeClock()
		if wait := f.Wait(t.Context(), "a"); wait != time.Second {
			t.Errorf("after 59 s: the wait is %v", wait)
		}
		m.Advance(time.Second)
		if wait := f.Wait(t.Context(), "a"); wait != 0 {
			t.Errorf("after a minute: the wait is %v", wait)
		}
	})
	testkit.ClockChanges(t, "refused caller", noon, func(t *testing.T, m *testkit.Machine) {
		l, who := &Limits{now: m.Now, refusals: newGenerations[owner, refusal](maxRefusals)}, owner{Key, "a"}
		l.refusals.put(who, refusal{limit: 60, until: m.Now().Add(30 * time.Second)})
		m.Advance(29 * time.Second)
		m.ChangeClock()
		if st, refused := l.refused(who); !refused || st.Retry != time.Second {
			t.Errorf("after 29 of 30 s: %+v %v", st, refused)
		}
		m.Advance(time.Second)
		if _, refused := l.refused(who); refused {
			t.Error("a cached limit refusal did not expire")
		}
	})
	testkit.ClockChanges(t, "refused key", noon, func(t *testing.T, m *testkit.Machine) {
		k, hash := newKeyCache(), KeyHash(sha256.Sum256([]byte("x")))
		k.refuse(hash, m.Now(), ErrUnauthenticated)
		m.Advance(refusalLife - time.Second)
		m.ChangeClock()
		if k.refusal(hash, m.Now()) == nil {
			t.Error("a cached key refusal expired too early")
		}
		m.Advance(time.Second)
		if k.refusal(hash, m.Now()) != nil {
			t.Error("a cached key refusal did not expire")
		}
	})
}
