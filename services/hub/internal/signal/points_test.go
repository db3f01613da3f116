package signal

import (
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

func TestPointsFollowTheScoringPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ basis, won, lost int }{{3100, 69, -31}, {3150, 68, -32}, {0, 99, -1}, {10000, 0, -100}} {
		s := Signal{Price: 1, ScoreBasis: syntax.Bps(c.basis)}
		if won, lost := s.Points(); won != c.won || lost != c.lost {
			t.Errorf("scoring price %d: %d and %d; want %d and %d", c.basis, won, lost, c.won, c.lost)
		}
	}
}

func TestOpenVenueCallsHaveNoFinalPrice(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	at := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		s     Signal
		final bool
		why   string
	}{
		"open at a venue":  {Signal{MarketID: "100", Status: syntax.Pending, PriceVerified: true, Rated: true}, false, ""},
		"open, native":     {Signal{MarketID: "native-1", Status: syntax.Pending, PriceVerified: true, Rated: true}, true, ""},
		"open, unverified": {Signal{MarketID: "100", Status: syntax.Pending, Rated: true}, true, "no fresh quote at the call"},
		"open, unrated":    {Signal{MarketID: "100", Status: syntax.Pending, PriceVerified: true}, false, "the market is not rated"},
		"won":              {Signal{MarketID: "100", Status: syntax.Won, PriceVerified: true, Rated: true, Counted: &yes, ConfirmedAt: at}, true, ""},
		"won, one quote":   {Signal{MarketID: "100", Status: syntax.Won, PriceVerified: true, Rated: true, Counted: &no}, true, "no second quote"},
		"late":             {Signal{MarketID: "100", Status: syntax.Void, Reason: "late", Counted: &no}, true, "filed after the market closed"},
	} {
		if got, why := c.s.PriceFinal(), c.s.NoPoints(); got != c.final || why != c.why {
			t.Errorf("%s: final %t, %q; want %t, %q", name, got, why, c.final, c.why)
		}
	}
}
