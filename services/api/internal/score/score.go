package score

import (
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Version is stored with every result of this formula. Results of version 1.0 do not count.
const Version = "1.1"

// ConfirmWithin is the longest time from a call to its second quote.
const ConfirmWithin = 10 * time.Minute

// Late is the reason of a void call that was filed at or after the closing time.
const Late = "late"

// Call is what scoring reads of a filed call.
type Call struct {
	Side      syntax.Side
	Basis     syntax.Bps  // scoring price at filing
	MarketYes *syntax.Bps // the ledger's YES price at the call
	Verified  bool
	Rated     bool // the market was rated at the call
	Creator   bool // the call's operator created the market
	CreatedAt time.Time
}

// Claim is what scoring reads of an outcome and its market.
type Claim struct {
	Verdict      syntax.Verdict
	CloseAt      time.Time
	CloseYes     *syntax.Bps // closing price
	Rated        bool        // the market was rated when it was resolved
	Native       bool
	ConfirmAfter time.Duration  // from a call to its second quote; 0: second quotes are off
	Quotes       []market.Quote // of the market, oldest first
}

// Result is what an outcome makes of one call.
type Result struct {
	Status  syntax.SignalStatus
	Score   int          // won 0..99, lost -100..-1, void 0
	Outcome *syntax.Side // nil for a void
	CLV     *int         // bps, -10000..10000; nil without a closing price or for a void

	Basis       syntax.Bps // scoring price
	ConfirmedAt *time.Time // time of the second quote
	Reason      string     // Late, or empty
	Counted     bool
	BeatCrowd   bool
}

// Score returns the result of a call. A late call is void under every verdict.
func (c *Claim) Score(call Call) Result {
	verdict, basis := c.Verdict, call.Basis
	late := !call.CreatedAt.Before(c.CloseAt)
	if late {
		verdict = syntax.VerdictInvalid
	}
	second := c.second(call)
	if second != nil {
		basis = Basis(basis, call.Side, *second)
	}
	r := Of(call.Side, basis, verdict, c.CloseYes)
	r.Basis = basis
	if second != nil {
		r.ConfirmedAt = &second.At
	}
	if late {
		r.Reason = Late
	}
	r.Counted = r.Status != syntax.Void && call.Verified && call.Rated && c.Rated && !call.Creator &&
		(c.Native || c.ConfirmAfter == 0 || second != nil)
	r.BeatCrowd = r.Status == syntax.Won && call.Verified && call.MarketYes != nil && call.MarketYes.Of(call.Side) < 5000
	return r
}

// second returns the second quote of a call: the first one at least ConfirmAfter and at most
// ConfirmWithin after a verified call, and before the closing time; nil if there is none.
func (c *Claim) second(call Call) *market.Quote {
	if c.Native || c.ConfirmAfter == 0 || !call.Verified {
		return nil
	}
	from, to := call.CreatedAt.Add(c.ConfirmAfter), call.CreatedAt.Add(ConfirmWithin)
	for i := range c.Quotes {
		if q := &c.Quotes[i]; !q.At.Before(from) && !q.At.After(to) && q.At.Before(c.CloseAt) {
			return q
		}
	}
	return nil
}

// Basis returns the scoring price of a call with a second quote: the larger one of the price
// at filing and the price of the side in the quote.
func Basis(filed syntax.Bps, side syntax.Side, second market.Quote) syntax.Bps {
	return max(filed, second.Of(side))
}

// Of scores a call of side at basis (bps of that side) under a verdict, with the market's
// closing YES price or nil.
//
// The score is the profit of one contract in cents, rounded against the caller, so that at a
// true price no call has a positive expectation.
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

// clv returns the closing price of the side called minus the basis.
func clv(side syntax.Side, basis syntax.Bps, closeYes *syntax.Bps) *int {
	if closeYes == nil {
		return nil
	}
	n := int(closeYes.Of(side)) - int(basis)
	return &n
}

// Accuracy is 100*won/resolved rounded half up, 0 without a resolved call.
func Accuracy(won, lost int64) int {
	resolved := won + lost
	if resolved == 0 {
		return 0
	}
	return int((200*won + resolved) / (2 * resolved))
}
