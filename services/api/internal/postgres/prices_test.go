package postgres

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// priceCase is a call and the facts that determine its price and its score.
type priceCase struct {
	Side      protocol.Side
	Price     protocol.Bps  // price as sent by the client
	Snapshot  *protocol.Bps // YES price of the market at the call
	Tolerance int
	Verdict   protocol.Verdict
	Close     *protocol.Bps // YES price of the market at its close
}

// priceResult contains the stored price, the scoring price and the result of a priceCase.
type priceResult struct {
	Price, Basis protocol.Bps
	Status       protocol.SignalStatus
	Score        int
	Outcome      *protocol.Side
	CLV          *int
}

// TestPricesAndScoresAreExact compares storedPrice, scoringPrice and scoreOf with a second implementation of
// docs/scores.md, which computes with exact fractions of a dollar instead of basis points. It uses random cases, and every
// price with each side and verdict.
func TestPricesAndScoresAreExact(t *testing.T) {
	t.Parallel()
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	differ := 0
	compare := func(c priceCase) {
		if diff := cmp.Diff(exact(c), computed(c)); diff != "" && differ < 10 {
			differ++
			t.Errorf("%+v: exact result (-), result (+):\n%s", c, diff)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		compare(randomCase(r))
	}
	for price := range protocol.Bps(10001) {
		for _, side := range callSides {
			for _, verdict := range verdicts {
				compare(priceCase{Side: side, Price: price, Verdict: verdict, Close: new(randomPrice(r))})
			}
		}
	}
}

// storedPrice returns the price that the ledger stores for a call with a stated price. snap is the YES price of the market at the
// call, or nil if the market has no price. A NO call whose price is nearer to the YES price than to the NO price is stored with
// 10000 - price, because the caller has probably stated the YES price.
func storedPrice(side protocol.Side, price protocol.Bps, snap *protocol.Bps) protocol.Bps {
	apart := func(a, b protocol.Bps) protocol.Bps { return max(a, b) - min(a, b) }
	if side == protocol.No && snap != nil && apart(price, *snap) < apart(price, snap.Of(protocol.No)) {
		return protocol.MaxBps - price
	}
	return price
}

// scoringPrice returns the scoring price that a call gets when it is filed. side is the price of the side called. If side is nil, the
// scoring price is the stated price. Otherwise it is the stated price or the difference of side and tolerance, whichever is
// larger. Prices and tolerance are in bps.
func scoringPrice(stated protocol.Bps, side *protocol.Bps, tolerance int) protocol.Bps {
	if side == nil {
		return stated
	}
	return max(stated, *side-protocol.Bps(tolerance))
}

func TestStoredPrices(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		side  protocol.Side
		price int
		snap  *protocol.Bps
		want  int
	}{
		{protocol.No, 3000, new(protocol.Bps(3000)), 7000},
		{protocol.No, 6900, new(protocol.Bps(3000)), 6900},
		{protocol.No, 5000, new(protocol.Bps(3000)), 5000},
		{protocol.Yes, 7000, new(protocol.Bps(3000)), 7000},
		{protocol.No, 3000, nil, 3000},
	} {
		if got := storedPrice(v.side, protocol.Bps(v.price), v.snap); int(got) != v.want {
			t.Errorf("%s at %d: %d, want %d", v.side, v.price, got, v.want)
		}
	}
}

// TestScoringPrices checks scoring prices on a market with the bid 2900 and the ask 3100, and on a native market with the crowd
// price 1429 and the initial price 5000.
func TestScoringPrices(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		stated    int
		side      *protocol.Bps
		tolerance int
		want      int
	}{
		{3000, new(protocol.Bps(3100)), 0, 3100},
		{6850, new(protocol.Bps(7100)), 0, 7100},
		{3400, new(protocol.Bps(3100)), 0, 3400},
		{1000, new(protocol.Bps(5000)), 0, 5000},
		{100, new(protocol.Bps(3100)), 1000, 2100},
		{100, nil, 0, 100},
	} {
		if got := scoringPrice(protocol.Bps(v.stated), v.side, v.tolerance); int(got) != v.want {
			t.Errorf("stated %d, side %v: %d, want %d", v.stated, v.side, got, v.want)
		}
	}
}

func TestClosingLineValues(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		side  protocol.Side
		basis protocol.Bps
		want  int
	}{{protocol.Yes, 6190, 910}, {protocol.No, 3810, -910}, {protocol.No, 2500, 400}} {
		if got := scoreOf(v.side, v.basis, protocol.VerdictYes, new(protocol.Bps(7100))); got.CLV == nil || *got.CLV != v.want {
			t.Errorf("%s at %d: %v, want %d", v.side, v.basis, got.CLV, v.want)
		}
	}
	void := scoredResult{Status: protocol.Void}
	if diff := cmp.Diff(void, scoreOf(protocol.Yes, 6190, protocol.VerdictInvalid, new(protocol.Bps(7100)))); diff != "" {
		t.Errorf("void (-want +got):\n%s", diff)
	}
}

var (
	callSides = []protocol.Side{protocol.Yes, protocol.No}
	verdicts  = []protocol.Verdict{protocol.VerdictYes, protocol.VerdictNo, protocol.VerdictInvalid}
)

// computed returns the result of a case as computed by storedPrice, scoringPrice and scoreOf.
func computed(c priceCase) priceResult {
	var of *protocol.Bps
	if c.Snapshot != nil {
		of = new(c.Snapshot.Of(c.Side))
	}
	stored := storedPrice(c.Side, c.Price, c.Snapshot)
	basis := scoringPrice(stored, of, c.Tolerance)
	r := scoreOf(c.Side, basis, c.Verdict, c.Close)
	return priceResult{stored, basis, r.Status, r.Score, r.Outcome, r.CLV}
}

// exact returns the result of a case as computed in exact fractions of a dollar.
func exact(c priceCase) priceResult {
	paid := dollars(c.Price)
	if c.Side == protocol.No && c.Snapshot != nil {
		yes := dollars(*c.Snapshot)
		if distance(paid, yes).Cmp(distance(paid, sidePrice(protocol.No, yes))) < 0 {
			paid = sidePrice(protocol.No, paid) // the client sent the YES price for a NO call
		}
	}
	basis := paid
	if c.Snapshot != nil {
		least := new(big.Rat).Sub(sidePrice(c.Side, dollars(*c.Snapshot)), dollars(protocol.Bps(c.Tolerance)))
		if least.Cmp(basis) > 0 {
			basis = least
		}
	}
	r := priceResult{Price: bpsOf(paid), Basis: bpsOf(basis), Status: protocol.Void}
	if c.Verdict == protocol.VerdictInvalid {
		return r
	}
	outcome := protocol.Side(c.Verdict)
	r.Outcome = &outcome
	stake := dollars(min(max(r.Basis, 1), 10000))
	if r.Status = protocol.Lost; c.Side == outcome {
		r.Status, r.Score = protocol.Won, centsBelow(new(big.Rat).Sub(dollars(10000), stake))
	} else {
		r.Score = centsBelow(new(big.Rat).Neg(stake))
	}
	if c.Close != nil {
		r.CLV = new(int(bpsOf(sidePrice(c.Side, dollars(*c.Close))) - r.Basis))
	}
	return r
}

// dollars returns a price in bps as a fraction of a dollar.
func dollars(bps protocol.Bps) *big.Rat { return big.NewRat(int64(bps), 10000) }

// bpsOf converts a fraction of a dollar that is a whole number of basis points. It is the inverse of dollars.
func bpsOf(d *big.Rat) protocol.Bps {
	n := new(big.Rat).Mul(d, big.NewRat(10000, 1))
	return protocol.Bps(n.Num().Int64() / n.Denom().Int64())
}

// sidePrice returns the price of a side in dollars, given the YES price in dollars.
func sidePrice(side protocol.Side, yes *big.Rat) *big.Rat {
	if side == protocol.Yes {
		return yes
	}
	return new(big.Rat).Sub(dollars(10000), yes)
}

// distance returns the absolute difference of two amounts.
func distance(a, b *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d)
}

// centsBelow returns an amount in cents, rounded down, so that the operator gets the smaller gain or the greater loss.
func centsBelow(d *big.Rat) int {
	c := new(big.Rat).Mul(d, big.NewRat(100, 1))
	n := new(big.Int)
	n.Div(c.Num(), c.Denom()) // Euclidean: rounds down for a positive divisor
	return int(n.Int64())
}

// randomCase returns a random case. Half of its prices are near 0 and 10000, where results of rounding differ.
func randomCase(r *rand.Rand) priceCase {
	c := priceCase{Side: callSides[r.IntN(2)], Price: randomPrice(r), Tolerance: 1000, Verdict: verdicts[r.IntN(3)]}
	if r.IntN(4) > 0 {
		c.Snapshot = new(randomPrice(r))
	}
	if r.IntN(4) > 0 {
		c.Close = new(randomPrice(r))
	}
	if r.IntN(8) == 0 {
		c.Tolerance = int(randomPrice(r))
	}
	return c
}

func randomPrice(r *rand.Rand) protocol.Bps {
	switch r.IntN(4) {
	case 0:
		return protocol.Bps(r.IntN(120))
	case 1:
		return protocol.Bps(10000 - r.IntN(120))
	case 2:
		return protocol.Bps(100 * r.IntN(101))
	default:
		return protocol.Bps(r.IntN(10001))
	}
}
