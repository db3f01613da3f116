package view_test

import (
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

func TestPointsLabel(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 points", 1: "+1 point", 38: "+38 points", -1: "−1 point", -100: "−100 points"} {
		if got := view.PointsLabel(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestOutcomeLabel(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[string]string{"YES": "YES", "NO": "NO", "INVALID": "Void", "": ""} {
		if got := view.OutcomeLabel(outcome); got != want {
			t.Errorf("%q: %q, want %q", outcome, got, want)
		}
	}
}

func TestBrier(t *testing.T) {
	t.Parallel()
	for bps, want := range map[int]string{0: "0.000", 1980: "0.198", 10_000: "1.000"} {
		if got := view.Brier(bps); got != want {
			t.Errorf("%d: %q, want %q", bps, got, want)
		}
	}
}
