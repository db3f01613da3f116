package format_test

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
)

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", time.Minute: "1 min ago", 59*time.Minute + 59*time.Second: "59 min ago",
		time.Hour: "1 h ago", 23 * time.Hour: "23 h ago", 24 * time.Hour: "1 d ago", 29 * 24 * time.Hour: "29 d ago",
		30 * 24 * time.Hour: "19 Aug 2026", -time.Minute: "18 Sep 2026",
	} {
		if got := format.Ago(now.Add(-age), now); got != want {
			t.Errorf("%v: %q, want %q", age, got, want)
		}
	}
}
