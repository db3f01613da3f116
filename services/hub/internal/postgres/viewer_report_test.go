package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// TestEachSampleIsReportedOnce checks which watched time enters the outbox: nothing of an open session before the report is due,
// then its complete minutes, and the rest when the session ends. Each sample is reported once, also by concurrent processes.
func TestEachSampleIsReportedOnce(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	air := store.OnAir()
	show, err := air.Beat(t.Context(), livestream.Start{
		Beat: livestream.Beat{Handle: "mara_k"}, At: noon, NewID: uuid.Must(uuid.NewV7()).String(), OwnURL: "https://v.example/m.m3u8",
	})
	if err != nil {
		t.Fatal(err)
	}
	for minute := range 12 {
		at := noon.Add(time.Duration(minute) * time.Minute)
		if err := air.Sample(t.Context(), []livestream.Sample{{ShowID: show.ID, Handle: "mara_k", Viewers: 12}}, at); err != nil {
			t.Fatal(err)
		}
	}
	report := func(minute int) string {
		t.Helper()
		now := noon.Add(time.Duration(minute) * time.Minute)
		times := livestream.ReportTimes{Oldest: now.AddDate(0, 0, -27), Due: now.Add(-10 * time.Minute), Complete: now.Add(-2 * time.Minute)}
		failed := make(chan error, 3)
		for range cap(failed) {
			go func() { failed <- air.ReportViewers(t.Context(), times) }()
		}
		for range cap(failed) {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		facts, err := store.Waiting(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range facts {
			if f.Type == "viewers.watched" {
				list = append(list, fmt.Sprint(f.Handle, " ", f.At.Sub(noon), " ", f.Data))
			}
		}
		return strings.Join(list, "; ")
	}
	first := `mara_k 10m0s {"viewerSeconds": 600}` // ten samples of twelve viewers, five seconds each
	for _, step := range []struct {
		minute int
		want   string
	}{{9, ""}, {11, first}, {12, first}} {
		if got := report(step.minute); got != step.want {
			t.Errorf("reports of an open session after %d minutes: %s; want %s", step.minute, got, step.want)
		}
	}
	if _, _, err := air.End(t.Context(), "mara_k", noon.Add(12*time.Minute)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		want := first + `; mara_k 12m0s {"viewerSeconds": 120}`
		if got := report(12); got != want {
			t.Errorf("reports after the end: %s; want %s", got, want)
		}
	}
}
