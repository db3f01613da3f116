package signal

import (
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

func TestPointsFollowTheScoringPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ basis, won, lost int }{{3100, 69, -31}, {3150, 68, -32}, {0, 99, -1}, {10000, 0, -100}} {
		s := &signalv1.Signal{PriceBps: 1, ScoreBasisBps: int32(c.basis)}
		if won, lost := Points(s); won != c.won || lost != c.lost {
			t.Errorf("scoring price %d: %d and %d; want %d and %d", c.basis, won, lost, c.won, c.lost)
		}
	}
}

func TestOpenVenueCallsHaveNoFinalPrice(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	at := &timestamppb.Timestamp{Seconds: 1_800_000_000}
	for name, c := range map[string]struct {
		s     *signalv1.Signal
		final bool
		why   string
	}{
		"open at a venue":  {&signalv1.Signal{MarketId: "100", Status: string(protocol.Pending), PriceVerified: true, Rated: true}, false, ""},
		"open, native":     {&signalv1.Signal{MarketId: "native-1", Status: string(protocol.Pending), PriceVerified: true, Rated: true}, true, ""},
		"open, unverified": {&signalv1.Signal{MarketId: "100", Status: string(protocol.Pending), Rated: true}, true, "no fresh market price when filed"},
		"open, unrated":    {&signalv1.Signal{MarketId: "100", Status: string(protocol.Pending), PriceVerified: true}, false, "unrated market (for example, low volume)"},
		"won":              {&signalv1.Signal{MarketId: "100", Status: string(protocol.Won), PriceVerified: true, Rated: true, Counted: &yes, ConfirmedAt: at}, true, ""},
		"won, one quote":   {&signalv1.Signal{MarketId: "100", Status: string(protocol.Won), PriceVerified: true, Rated: true, Counted: &no}, true, "the price was not confirmed by a second quote"},
		"late":             {&signalv1.Signal{MarketId: "100", Status: string(protocol.Void), Reason: "late", Counted: &no}, true, "filed after the market closed"},
	} {
		if got, why := PriceFinal(c.s), NoPoints(c.s); got != c.final || why != c.why {
			t.Errorf("%s: final %t, %q; want %t, %q", name, got, why, c.final, c.why)
		}
	}
}
