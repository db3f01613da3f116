package app

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
)

func TestTimeDoesNotFool(t *testing.T) {
	at := time.Date(2026, 10, 25, 0, 59, 50, 0, time.UTC)
	testkit.Tricks(t, "refused caller", at, func(t *testing.T, m *testkit.Machine) {
		l, who := newLimits(nil, m.Now), whose{caller.Key, "a"}
		l.remember(who, refusal{limit: 60, until: m.Now().Add(30 * time.Second)})
		m.Pass(29 * time.Second)
		m.Trick()
		if st, refused := l.refused(who); !refused || st.Retry != time.Second {
			t.Errorf("after 29 of 30 s: %+v %v", st, refused)
		}
		m.Pass(time.Second)
		if _, refused := l.refused(who); refused {
			t.Error("a refusal does not end")
		}
	})
}
