package resolution_test

import (
	"testing"

	"github.com/signalcast/signalcast/services/api/internal/resolution"
)

func TestAccuracy(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		won, lost int64
		want      int
	}{{0, 0, 0}, {12, 6, 67}, {1, 1, 50}, {1, 199, 1}, {1, 201, 0}} {
		if got := resolution.Accuracy(v.won, v.lost); got != v.want {
			t.Errorf("%d/%d: %d, want %d", v.won, v.lost, got, v.want)
		}
	}
}
