package signal

import (
	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// Points returns the points of a call if it is won and if it is lost, at its scoring price (docs/scores.md, The
// formula).
func Points(s *signalv1.Signal) (won, lost int) {
	p := max(int(s.GetScoreBasisBps()), 1)
	return (int(protocol.MaxBps) - p) / 100, -((p + 99) / 100)
}

// PriceFinal reports whether the scoring price of a call is final. While a verified call on a venue market is pending, a
// second quote can still raise its scoring price.
func PriceFinal(s *signalv1.Signal) bool {
	return protocol.SignalStatus(s.GetStatus()) != protocol.Pending || isNative(s) || !s.GetPriceVerified()
}

func isNative(s *signalv1.Signal) bool { return protocol.MarketID(s.GetMarketId()).IsNative() }

// NoPoints returns the reason why a call gets no points. It returns "" if the call gets points or can still get them.
func NoPoints(s *signalv1.Signal) string {
	switch {
	case s.GetReason() == "late":
		return "filed after the market closed"
	case s.GetReason() == "unknown_market":
		return "the venue has no such market"
	case protocol.SignalStatus(s.GetStatus()) == protocol.Void:
		return "the market resolved void"
	case !s.GetPriceVerified():
		return "no fresh market price when filed"
	case !s.GetRated():
		return "unrated market (for example, low volume)"
	case s.Counted != nil && !*s.Counted && !isNative(s) && s.GetConfirmedAt() == nil:
		return "the price was not confirmed by a second quote"
	case s.Counted != nil && !*s.Counted:
		return "unrated market, or opened by the forecaster"
	}
	return ""
}
