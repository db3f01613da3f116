package digest_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/digest"
)

func TestYesterday(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 14*3600)
	for now, want := range map[time.Time]string{
		time.Date(2026, 9, 18, 0, 0, 0, 0, time.UTC):      "2026-09-17",
		time.Date(2026, 9, 18, 23, 59, 59, 999, time.UTC): "2026-09-17",
		time.Date(2026, 9, 18, 8, 0, 0, 0, east):          "2026-09-16", // the 17th in UTC
		time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC):      "2026-02-28",
		time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC):       "2026-12-31",
	} {
		w := digest.Yesterday(now)
		if w.Date != want || w.From.Format(time.RFC3339) != want+"T00:00:00Z" || w.To.Sub(w.From) != 24*time.Hour {
			t.Errorf("%v: %+v", now, w)
		}
	}
}

func TestWssAo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signals, operators int64
		want               float64
	}{{14, 5, 2.8}, {0, 0, 0}, {7, 0, 0}, {1, 3, 0.33}, {2, 3, 0.67}} {
		if got := digest.WssAo(c.signals, c.operators); got != c.want {
			t.Errorf("%d by %d: %v", c.signals, c.operators, got)
		}
	}
}
