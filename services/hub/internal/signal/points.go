package signal

import "github.com/signalcast/signalcast/pkg/syntax"

// Points returns the score of the call if it is won and if it is lost, at its scoring price
// (docs/scores.md, The formula).
func (s *Signal) Points() (won, lost int) {
	p := max(int(s.ScoreBasis), 1)
	return (int(syntax.MaxBps) - p) / 100, -((p + 99) / 100)
}

// PriceFinal reports whether the scoring price is final. A second quote can still raise that
// of an open call on a venue's market.
func (s *Signal) PriceFinal() bool {
	return s.Status != syntax.Pending || s.MarketID.IsNative() || !s.PriceVerified
}

// NoPoints returns why the call is not part of points, or an empty text if it is or can be.
func (s *Signal) NoPoints() string {
	switch {
	case s.Reason == "late":
		return "filed after the market closed"
	case s.Reason == "unknown_market":
		return "the venue does not know the market"
	case s.Status == syntax.Void:
		return "the question had no answer"
	case !s.PriceVerified:
		return "no fresh quote at the call"
	case !s.Rated:
		return "the market is not rated"
	case s.Counted != nil && !*s.Counted && !s.MarketID.IsNative() && s.ConfirmedAt.IsZero():
		return "no second quote"
	case s.Counted != nil && !*s.Counted:
		return "the market was not rated, or is the forecaster's own"
	}
	return ""
}
