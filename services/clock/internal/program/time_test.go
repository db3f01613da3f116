package program

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestClockChanges(t *testing.T) {
	slot := SlotAt(time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC))
	testkit.ClockChanges(t, "slot", slot.Start(), func(t *testing.T, m *testkit.Machine) {
		m.Advance(SlotLength - time.Second)
		m.ChangeClock()
		if got := SlotAt(m.Now()); got != slot || !Boundary(m.Now()).Equal(slot.End()) {
			t.Errorf("one second before the end of slot %[2]d, slot %[1]d airs", got, slot)
		}
		m.Advance(time.Second)
		if got := SlotAt(m.Now()); got != slot+1 {
			t.Errorf("after the end of the slot, slot %d airs; want the next slot", got)
		}
	})
}
