package message

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestClockChanges(t *testing.T) {
	at := time.Date(2026, 10, 25, 0, 59, 50, 0, time.UTC)
	testkit.ClockChanges(t, "message window", at, func(t *testing.T, m *testkit.Machine) {
		old, early := Message{Timestamp: at.UnixMilli()}, Message{Timestamp: at.Add(WindowPast + WindowFuture).UnixMilli()}
		m.Advance(WindowPast - time.Second)
		m.ChangeClock()
		if err := checkWindow(old, m.Now()); err != nil {
			t.Errorf("within the window: %v", err)
		}
		if checkWindow(early, m.Now()) == nil {
			t.Error("a message more than a minute ahead is accepted")
		}
		m.Advance(2 * time.Second)
		if checkWindow(old, m.Now()) == nil {
			t.Error("a message older than five minutes is accepted")
		}
		if err := checkWindow(early, m.Now()); err != nil {
			t.Errorf("a minute ahead: %v", err)
		}
	})
	testkit.ClockChanges(t, "signer", at, func(t *testing.T, m *testkit.Machine) {
		ends := at.Add(time.Hour)
		s := Signer{ExpiresAt: ends}
		m.Advance(59 * time.Minute)
		m.ChangeClock()
		if err := s.Usable(m.Now()); err != nil {
			t.Errorf("a minute before the end: %v", err)
		}
		m.Advance(time.Minute)
		if s.Usable(m.Now()) == nil {
			t.Error("a signer did not expire")
		}
	})
}
