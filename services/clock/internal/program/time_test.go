package program

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestTimeDoesNotFool(t *testing.T) {
	slot := SlotAt(time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC))
	testkit.Tricks(t, "slot", slot.Start(), func(t *testing.T, m *testkit.Machine) {
		m.Pass(SlotLength - time.Second)
		m.Trick()
		if got := SlotAt(m.Now()); got != slot || !Boundary(m.Now()).Equal(slot.End()) {
			t.Errorf("a second before its end slot %d airs, not %d", got, slot)
		}
		m.Pass(time.Second)
		if got := SlotAt(m.Now()); got != slot+1 {
			t.Errorf("after its end slot %d airs", got)
		}
	})
}
