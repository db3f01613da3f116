package livestream_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

func TestSessionAt(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	s := livestream.Session{ID: "x", StartedAt: noon, LastBeat: noon.Add(time.Minute), URL: "https://v.example/x.m3u8", Viewers: 7}
	for after, open := range map[time.Duration]bool{0: true, 44 * time.Second: true, 45*time.Second - 1: true, 45 * time.Second: false, time.Hour: false} {
		now := s.LastBeat.Add(after)
		got := s.At(now)
		if got.Open() != open || got.Live() != open {
			t.Errorf("%v after the last heartbeat: open %v", after, got.Open())
		}
		if !open && (!got.EndedAt.Equal(noon.Add(105*time.Second)) || got.Length(now) != 105*time.Second || got.Viewers != 0) {
			t.Errorf("%v after the last heartbeat: %+v", after, got)
		}
	}
	if (livestream.Session{}).Open() {
		t.Error("the zero session is open")
	}
	if early := s.At(noon.Add(-time.Hour)); early.Length(noon.Add(-time.Hour)) != 0 {
		t.Errorf("length with a late clock: %v", early.Length(noon.Add(-time.Hour)))
	}
}

func TestLanes(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "", "science": "science", "SCIENCE": "science", "SPORT sports": "-", "sports film tv news tech": "sports film tv news tech",
		"sports film tv news tech music": "-", "Science": "-", "OTHER": "-", "ENTERTAINMENT WORLD": "film news",
	} {
		keys, ok := livestream.ParseLanes(strings.Fields(given))
		if got := strings.Join(keys, " "); ok != (want != "-") || ok && got != want {
			t.Errorf("%q: %q %v", given, got, ok)
		}
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"24h": "24h", "7d": "7d", "28d": "28d", "": "24h", "1y": "24h"} {
		w := livestream.ParseWindow(given)
		if w.Name != want {
			t.Errorf("%q: %+v", given, w)
		}
	}
	var steps []int
	for _, w := range []string{"24h", "7d", "28d"} {
		steps = append(steps, int(livestream.ParseWindow(w).Span/livestream.ParseWindow(w).Step))
	}
	if !slices.Equal(steps, []int{1440, 1008, livestream.MaxSteps}) {
		t.Error(steps)
	}
}

func TestSlugs(t *testing.T) {
	t.Parallel()
	for slug, want := range map[string]bool{"a": true, "ostrava-gauge-6m": true, strings.Repeat("x", 120): true, strings.Repeat("x", 121): false, "": false, "A": false, "a_b": false, "ä": false} {
		if livestream.IsSlug(slug) != want {
			t.Errorf("%q", slug)
		}
	}
}
