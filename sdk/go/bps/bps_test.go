package bps_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/signalcast/signalcast/sdk/go/bps"
	"github.com/signalcast/signalcast/sdk/go/client"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	for cents, want := range map[float64]int{65.5: 6550, 0: 0, 100: 10000, 0.29: 29, 33.335: 3334, 0.01: 1} {
		if got, err := bps.FromCents(cents); err != nil || got != want {
			t.Errorf("FromCents(%v) = %d, %v; want %d", cents, got, err, want)
		}
	}
	for _, bad := range []float64{6550, -0.01, 100.01, math.NaN(), math.Inf(1)} {
		if got, err := bps.FromCents(bad); err == nil {
			t.Errorf("FromCents(%v) = %d; want an error", bad, got)
		}
	}
	if got, err := bps.FromProbability(0.655); err != nil || got != 6550 {
		t.Errorf("FromProbability(0.655) = %d, %v; want 6550", got, err)
	}
	if _, err := bps.FromProbability(65.5); err == nil {
		t.Error("FromProbability accepted 65.5")
	}
}

func Example() {
	price, err := bps.FromCents(65.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	no := bps.SideOf(price, client.SideNO)
	fmt.Println(price, no, bps.Format(no), bps.Probability(no))
	// Output: 6550 3450 34.5¢ 0.345
}
