package score

import "github.com/signalcast/signalcast/pkg/syntax"

// Version is stamped on every result of this formula.
const Version = "1.0"

// Result is what an outcome makes of one call.
type Result struct {
	Status  syntax.SignalStatus
	Score   int          // won 0..99, lost -100..-1, void 0
	Outcome *syntax.Side // null for a void
	CLV     *int         // bps, -10000..10000; null without a closing line or for a void
}

// Of scores a call of side at basis (bps of that side) under a verdict, with
// the market's closing YES price or nil.
//
// Source of the formula: contract 4.2.2. The score is the profit of one contract
// in cents, rounded against the caller, so that at a true price no call has a
// positive expectation.
func Of(side syntax.Side, basis syntax.Bps, verdict syntax.Verdict, closeYes *syntax.Bps) Result {
	outcome, decided := verdict.Side()
	if !decided {
		return Result{Status: syntax.Void}
	}
	r := Result{Outcome: &outcome, CLV: clv(side, basis, closeYes)}
	p := max(int(basis), 1)
	if side == outcome {
		r.Status, r.Score = syntax.Won, (10000-p)/100
	} else {
		r.Status, r.Score = syntax.Lost, -((p + 99) / 100)
	}
	return r
}

// clv is the closing price of the side called minus the basis (contract 4.2.3).
func clv(side syntax.Side, basis syntax.Bps, closeYes *syntax.Bps) *int {
	if closeYes == nil {
		return nil
	}
	n := int(closeYes.Of(side)) - int(basis)
	return &n
}

// BeatCrowd tells whether a won call stood against the crowd (contract 4.2.6):
// the side called was priced below half when it was filed.
func BeatCrowd(side syntax.Side, status syntax.SignalStatus, crowdYes *syntax.Bps) bool {
	return status == syntax.Won && crowdYes != nil && crowdYes.Of(side) < 5000
}

// Accuracy is 100*won/resolved rounded half up, 0 without a resolved call.
func Accuracy(won, lost int64) int {
	resolved := won + lost
	if resolved == 0 {
		return 0
	}
	return int((200*won + resolved) / (2 * resolved))
}
